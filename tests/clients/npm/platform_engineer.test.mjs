// SPDX-License-Identifier: Apache-2.0
// A platform engineer's day: workspaces, clusters and their nodes, sizes, usages, quotas, networks.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Client, GROUP, all, eventually, idOf, refused, submit} from './client.mjs';

const client = new Client();
const {arm} = client;
const WORKSPACE = 'platform';
const here = [GROUP, WORKSPACE];
const cluster = (inner = {}, outer = {}) => ({
  location: 'local',
  ...outer,
  properties: {
    computeType: 'AmlCompute',
    properties: {vmSize: 'Standard_DS1_v2', scaleSettings: {maxNodeCount: 2}, ...inner},
  },
});
const sleeper = (compute) => ({
  jobType: 'Command',
  command: 'sleep 600',
  environmentId: 'azureml:AzureML-minimal:1',
  computeId: idOf(WORKSPACE, `computes/${compute}`),
});

test('a workspace is made, found, changed and listed', async () => {
  const made = await arm.workspaces.beginCreateOrUpdateAndWait(...here, {
    location: 'local',
    friendlyName: 'Platform',
    description: 'for clusters',
    tags: {team: 'infra'},
  });
  assert.equal(made.provisioningState, 'Succeeded');
  assert.equal(made.friendlyName, 'Platform');

  const changed = await arm.workspaces.beginUpdateAndWait(...here, {description: 'for everybody'});
  assert.equal(changed.description, 'for everybody');
  assert.deepEqual(changed.tags, {team: 'infra'});
  const found = await arm.workspaces.get(GROUP.toUpperCase(), WORKSPACE.toUpperCase());
  assert.equal(found.workspaceId, made.workspaceId);
  assert.equal(found.name, WORKSPACE);
  for (const list of [arm.workspaces.listByResourceGroup(GROUP), arm.workspaces.listBySubscription()]) {
    assert.ok((await all(list)).some((each) => each.id === made.id));
  }
  assert.deepEqual(await all(arm.workspaces.listByResourceGroup('nobodys')), []);
});

test('what is fixed about a workspace is refused by name', async () => {
  const account = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a';
  await arm.workspaces.beginCreateOrUpdateAndWait(GROUP, 'fixed', {
    location: 'local',
    storageAccount: account,
    hbiWorkspace: true,
  });
  for (const [change, field] of [
    [{location: 'westeurope'}, /location/],
    [{storageAccount: `${account}b`}, /storageAccount/],
    [{hbiWorkspace: false}, /hbiWorkspace/],
  ]) {
    await assert.rejects(
      arm.workspaces.beginCreateOrUpdateAndWait(GROUP, 'fixed', {location: 'local', ...change}),
      refused(409, 'Conflict', field),
    );
  }
  const kept = await arm.workspaces.beginUpdateAndWait(GROUP, 'fixed', {
    applicationInsights: '/insights',
    containerRegistry: '/registry',
  });
  assert.deepEqual(
    [kept.storageAccount, kept.hbiWorkspace, kept.applicationInsights, kept.containerRegistry],
    [account, true, '/insights', '/registry'],
  );
  await arm.workspaces.beginDeleteAndWait(GROUP, 'fixed');
});

test('more workspaces than a page holds are all listed, once each', async () => {
  const names = Array.from({length: 60}, (_, index) => `many${index}`);
  await Promise.all(names.map((name) => arm.workspaces.beginCreateOrUpdateAndWait('crowd', name, {location: 'local'})));
  const pages = await all(arm.workspaces.listByResourceGroup('crowd').byPage());
  assert.ok(pages.length > 1, `${pages.length} pages`);
  assert.deepEqual(
    pages
      .flat()
      .map((each) => each.name)
      .sort(),
    names.sort(),
  );
  await Promise.all(names.map((name) => arm.workspaces.beginDeleteAndWait('crowd', name)));
  assert.deepEqual(await all(arm.workspaces.listByResourceGroup('crowd')), []);
});

test('what a workspace has no keys and notebooks for is refused in plain words', async () => {
  for (const name of ['listKeys', 'listStorageAccountKeys']) {
    await assert.rejects(arm.workspaces[name](...here), refused(501, 'NotSupported', /no account keys.*listSecrets/));
  }
  for (const name of ['listNotebookKeys', 'listNotebookAccessToken', 'beginPrepareNotebookAndWait']) {
    await assert.rejects(arm.workspaces[name](...here), refused(501, 'NotSupported', /no notebooks/));
  }
  await arm.workspaces.beginResyncKeysAndWait(...here);
});

test('a diagnosis of a healthy workspace finds nothing', async () => {
  const {value} = await arm.workspaces.beginDiagnoseAndWait(...here);
  assert.equal(Object.keys(value).length, 9);
  for (const [part, findings] of Object.entries(value)) assert.deepEqual(findings, [], part);
});

test('a cluster grows for a job, shows its nodes, and goes with its work', async () => {
  const poller = await arm.computeOperations.beginCreateOrUpdate(...here, 'pool', cluster());
  const made = await poller.pollUntilDone();
  assert.ok(poller.isDone());
  assert.equal(made.properties.provisioningState, 'Succeeded');
  assert.equal(made.properties.properties.scaleSettings.maxNodeCount, 2);
  assert.deepEqual(await all(arm.computeOperations.listNodes(...here, 'pool')), []);

  await submit(client, WORKSPACE, 'hold', sleeper('pool'));
  const node = await eventually(
    async () =>
      (await all(arm.computeOperations.listNodes(...here, 'pool'))).find((each) => each.nodeState === 'running'),
    'a node that runs the job',
  );
  assert.equal(node.runId, 'hold');
  const busy = await arm.computeOperations.get(...here, 'pool');
  assert.equal(busy.properties.properties.nodeStateCounts.runningNodeCount, 1);
  assert.equal(busy.properties.properties.currentNodeCount, 1);
  const usages = await all(arm.usages.list('local'));
  assert.ok(usages.find((each) => each.name.value === 'TotalNodes').currentValue >= 1);

  await assert.rejects(
    arm.computeOperations.beginDeleteAndWait(...here, 'pool', 'Detach'),
    refused(409, 'Conflict', /'hold'/),
  );
  await arm.computeOperations.beginDeleteAndWait(...here, 'pool', 'Delete');
  await assert.rejects(arm.computeOperations.get(...here, 'pool'), refused(404, 'ResourceNotFound', /'pool'/));
  assert.equal((await arm.jobs.get(...here, 'hold')).properties.status, 'Canceled');
});

test('a PATCH changes the scale alone, and is polled without Location', async () => {
  await arm.computeOperations.beginCreateOrUpdateAndWait(
    ...here,
    'pool',
    cluster({vmPriority: 'LowPriority'}, {tags: {a: 'b'}}),
  );
  const first = client.exchanges.length;
  const changed = await arm.computeOperations.beginUpdateAndWait(...here, 'pool', {
    properties: {scaleSettings: {maxNodeCount: 7, nodeIdleTimeBeforeScaleDown: 'PT5M'}},
  });
  assert.equal(changed.properties.properties.scaleSettings.maxNodeCount, 7);
  assert.equal(changed.properties.properties.scaleSettings.nodeIdleTimeBeforeScaleDown, 'PT5M');
  assert.equal(changed.properties.properties.vmPriority, 'LowPriority');
  const [patch, ...polls] = client.exchanges.slice(first);
  assert.equal(patch.method, 'PATCH');
  assert.ok(patch.headers['azure-asyncoperation']);
  assert.equal(patch.headers.location, undefined);
  assert.ok(polls.some((each) => each.isPoll));
  for (const poll of polls.filter((each) => each.isPoll)) assert.equal(poll.headers['retry-after'], '1');
});

test('what is fixed about a cluster is refused by name', async () => {
  for (const [body, field] of [
    [cluster({vmSize: 'Standard_DS2_v2', vmPriority: 'LowPriority'}), /size/],
    [cluster({vmPriority: 'Dedicated'}), /tier/],
    [cluster({vmPriority: 'LowPriority'}, {location: 'westeurope'}), /location/],
  ]) {
    await assert.rejects(
      arm.computeOperations.beginCreateOrUpdateAndWait(...here, 'pool', body),
      refused(409, 'Conflict', field),
    );
  }
  const kept = await arm.computeOperations.get(...here, 'pool');
  assert.equal(kept.properties.properties.vmSize, 'Standard_DS1_v2');
  assert.equal(kept.properties.properties.scaleSettings.maxNodeCount, 7);
  await arm.computeOperations.beginDeleteAndWait(...here, 'pool', 'Delete');
});

test('computes of the other kinds are refused by name, and leave nothing', async () => {
  const {KnownComputeType} = client.exported;
  const others = Object.values(KnownComputeType).filter((kind) => kind !== 'AmlCompute');
  assert.ok(others.length >= 9);
  for (const computeType of others) {
    await assert.rejects(
      arm.computeOperations.beginCreateOrUpdateAndWait(...here, 'other', {
        location: 'local',
        properties: {computeType},
      }),
      refused(501, 'NotSupported', new RegExp(`type ${computeType} `)),
    );
  }
  assert.deepEqual(await all(arm.computeOperations.list(...here)), []);
});

test('more clusters than a page holds are all listed', async () => {
  const names = Array.from({length: 53}, (_, index) => `pool${index}`);
  for (const name of names) await arm.computeOperations.beginCreateOrUpdateAndWait(...here, name, cluster());
  const pages = await all(arm.computeOperations.list(...here).byPage());
  assert.ok(pages.length > 1);
  assert.deepEqual(
    pages
      .flat()
      .map((each) => each.name)
      .sort(),
    names.sort(),
  );
  await Promise.all(names.map((name) => arm.computeOperations.beginDeleteAndWait(...here, name, 'Delete')));
});

test('sizes say what a node has and costs', async () => {
  const {value} = await arm.virtualMachineSizes.list('local');
  const size = value.find((each) => each.name === 'Standard_DS2_v2');
  assert.equal(size.vCPUs, 2);
  assert.equal(size.memoryGB, 7);
  assert.ok(size.estimatedVMPrices.values.some((price) => price.retailPrice > 0 && price.vmTier === 'LowPriority'));
  await assert.rejects(
    arm.computeOperations.beginCreateOrUpdateAndWait(...here, 'pool', cluster({vmSize: 'Standard_DS22_v2'})),
    refused(400, 'UserError', /no size 'Standard_DS22_v2'/),
  );
});

test('quotas are the capacity of a site, and can be changed', async () => {
  const quotas = async () =>
    Object.fromEntries((await all(arm.quotas.list('local'))).map((each) => [each.name.value, each]));
  const before = await quotas();
  const update = async (changes) =>
    (
      await arm.quotas.update('local', {
        location: 'local',
        value: Object.entries(changes).map(([name, limit]) => ({
          id: before[name]?.id ?? `/quotas/${name}`,
          limit,
          unit: 'Count',
        })),
      })
    ).value.map((each) => each.status);
  const family = Object.keys(before).find((name) => !name.startsWith('Total'));

  assert.deepEqual(await update({TotalNodes: 5, TotalDedicatedCores: 64}), ['Success', 'Success']);
  const after = await quotas();
  assert.equal(after.TotalNodes.limit, 5);
  assert.equal(after.TotalLowPriorityCores.limit, 64, 'both kinds of nodes share the cores');
  assert.deepEqual(await update({[family]: 4, Gravity: 4}), ['OperationNotSupportedForSku', 'InvalidVMFamilyName']);
  await assert.rejects(update({TotalNodes: 0}), refused(400, 'UserError', /value\[0\].limit/));
  assert.deepEqual(await quotas(), after);

  await arm.computeOperations.beginCreateOrUpdateAndWait(
    ...here,
    'kept',
    cluster({scaleSettings: {minNodeCount: 2, maxNodeCount: 2}}),
  );
  assert.deepEqual(await update({TotalNodes: 1}), ['InvalidQuotaBelowClusterMinimum']);
  await arm.computeOperations.beginDeleteAndWait(...here, 'kept', 'Delete');
  assert.deepEqual(await update({TotalNodes: -1, TotalDedicatedCores: -1}), ['Success', 'Success']);
  assert.equal((await quotas()).TotalNodes.limit, -1);
});

test('nothing is private, nothing is a preview, and nothing outside is needed', async () => {
  assert.deepEqual((await arm.privateLinkResources.list(...here)).value, []);
  assert.deepEqual(await all(arm.privateEndpointConnections.list(...here)), []);
  assert.deepEqual(await all(arm.workspaceFeatures.list(...here)), []);
  assert.deepEqual((await arm.workspaces.listOutboundNetworkDependenciesEndpoints(...here)).value, []);
});

test('the provider lists what roles can name', async () => {
  const names = (await all(arm.operations.list())).map((each) => each.name);
  assert.equal(new Set(names).size, names.length);
  for (const name of [
    'workspaces/read',
    'workspaces/computes/write',
    'workspaces/jobs/cancel/action',
    'locations/vmsizes/read',
  ]) {
    assert.ok(names.includes(`Microsoft.MachineLearningServices/${name}`), name);
  }
});

test('a workspace that is deleted is gone, and can be deleted again', async () => {
  await arm.workspaces.beginDeleteAndWait(...here);
  await assert.rejects(arm.workspaces.get(...here), refused(404, 'ResourceNotFound', /'platform'/));
  await assert.rejects(all(arm.computeOperations.list(...here)), refused(404, 'ResourceNotFound', /'platform'/));
  await arm.workspaces.beginDeleteAndWait(...here);
});

test('every answer was as the client expects it', () => {
  assert.deepEqual(client.problems, []);
  assert.ok(client.checker.fields > 1000);
});
