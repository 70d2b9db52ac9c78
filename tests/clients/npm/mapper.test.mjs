// SPDX-License-Identifier: Apache-2.0
// The checker sees what is wrong with an answer: everything else here rests on that.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Client, load} from './client.mjs';
import {Checker, knownValues} from './mapper.mjs';

const client = new Client();
/** The mappers are not exported; the client's own serializer has them, and every request carries it. */
const models = await new Promise((resolve) => {
  const send = client.arm.sendOperationRequest;
  client.arm.sendOperationRequest = (args, spec) => {
    resolve(spec.serializer.modelMappers);
    return send(args, spec);
  };
  client.arm.workspaces.get('berth', 'default');
});
const known = knownValues(client.declarations, client.exported);
const check = (model, answer, absent) => new Checker(models, known, absent).check(models[model], answer);

const node = {nodeId: 'n', privateIpAddress: null, publicIpAddress: null, port: 0, nodeState: 'idle', runId: null};
const cluster = {
  computeType: 'AmlCompute',
  computeLocation: 'local',
  provisioningState: 'Succeeded',
  createdOn: '2026-11-18T03:22:11.328Z',
  modifiedOn: '2026-11-18T03:22:11Z',
  provisioningErrors: null,
  isAttachedCompute: false,
};

test('a complete answer is right', () => assert.deepEqual(check('AmlComputeNodeInformation', node), []));

test('a read-only field that is missing is found, and may be excused', () => {
  const {runId, ...rest} = node;
  assert.match(check('AmlComputeNodeInformation', rest)[0], /runId is missing, a read-only field/);
  assert.deepEqual(check('AmlComputeNodeInformation', rest, {'AmlComputeNodeInformation.runId': 'why'}), []);
});

test('a required field that is missing is found', () => {
  assert.match(check('ScaleSettings', {minNodeCount: 0})[0], /maxNodeCount is missing, a required field/);
});

test('types are looked at', () => {
  for (const [field, value] of [
    ['port', '0'],
    ['nodeId', 5],
    ['nodeId', null],
    ['port', []],
  ]) {
    assert.equal(check('AmlComputeNodeInformation', {...node, [field]: value}).length, 1, `${field} ${value}`);
  }
  for (const time of ['yesterday', '2026-11-18', 1700000000, '2026-11-18 03:22:11Z']) {
    assert.match(check('Compute', {...cluster, createdOn: time})[0], /not a time/);
  }
  assert.match(check('ScaleSettings', {maxNodeCount: 1, nodeIdleTimeBeforeScaleDown: '120'})[0], /not a duration/);
  assert.match(check('ManagedServiceIdentity', {type: 'None', principalId: 'me', tenantId: 'me'})[0], /not a UUID/);
  assert.match(check('PaginatedComputeResourcesList', {value: {}})[0], /not a list/);
  assert.match(check('ComputeResource', 5)[0], /not an object/);
});

test('values of enumerations are the known ones, inherited fields included', () => {
  assert.match(check('AmlComputeNodeInformation', {...node, nodeState: 'Idle'})[0], /none of idle, running/);
  assert.match(check('Compute', {...cluster, provisioningState: 'Fine'})[0], /none of/);
  assert.match(check('Sku', {name: 'Basic', tier: 'Huge'})[0], /none of Free/);
});

test('the discriminator chooses the model', () => {
  assert.match(check('Compute', {...cluster, properties: {vmSize: 5}})[0], /vmSize is not a string/);
  assert.match(check('Compute', {...cluster, computeType: 'Abacus'})[0], /which the client does not know/);
  assert.match(
    check('DatastoreProperties', {
      datastoreType: 'AzureBlob',
      isDefault: true,
      credentials: {credentialsType: 'Key'},
    })[0],
    /credentialsType/,
  );
});

test('both releases are the ones that the table is about', () => {
  const version = (release) => load(`${release}/package.json`).version;
  assert.equal(version('arm-machinelearning-2.1'), '2.1.1');
  assert.equal(version('arm-machinelearning-1.0'), '1.0.0');
});
