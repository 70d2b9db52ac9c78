// SPDX-License-Identifier: Apache-2.0
// Mistakes, made with the client and past it: each gets an ARM error that says what is wrong, and leaves nothing.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Client, GROUP, SUBSCRIPTION, all, idOf, raw} from './client.mjs';

const client = new Client();
const {arm} = client;
const here = [GROUP, 'default'];
const W = idOf('default');
const PROVIDER = '/providers/Microsoft.MachineLearningServices';
const VERSION = 'api-version=2022-10-01';
const environment = {properties: {image: 'debian:12'}};

/** An ARM error, complete, about `target` if one is given. */
function check_error(answer, status, code, words, target) {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.body.error.code, code);
  assert.match(answer.body.error.message, words);
  if (target) assert.equal(answer.body.error.target, target);
}

test('any api-version is served alike, and so is none', async () => {
  for (const query of [
    '?api-version=2022-10-01',
    '?api-version=2099-01-01-preview',
    '?API-Version=1',
    '?api-version=%27',
    '?api-version=',
    '',
  ]) {
    const answer = await raw('GET', W + query);
    assert.equal(answer.status, 200, query);
    assert.equal(answer.body.name, 'default');
  }
  const other = new Client(undefined, {client: {apiVersion: '2031-12-24'}});
  assert.equal((await other.arm.workspaces.get(...here)).name, 'default');
  assert.match(other.exchanges[0].url, /2031-12-24/);
});

test('paths and enumerations may be in any case', async () => {
  const shouted = W.toUpperCase().replace('/SUBSCRIPTIONS', '/subscriptionS');
  assert.equal((await raw('GET', `${shouted}/JOBS?${VERSION}`)).status, 200);
  const body = {
    location: 'local',
    properties: {
      computeType: 'amlcompute',
      properties: {vmSize: 'STANDARD_ds1_V2', vmPriority: 'lowpriority', osType: 'LINUX'},
    },
  };
  const made = await raw('PUT', `${W}/Computes/Case?${VERSION}`, body);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const found = await arm.computeOperations.get(...here, 'cASE');
  assert.equal(found.name, 'Case');
  assert.equal(found.properties.computeType, 'AmlCompute');
  assert.equal(found.properties.properties.vmPriority, 'LowPriority');
  assert.equal((await raw('DELETE', `${W}/computes/case?underlyingresourceaction=delete&${VERSION}`)).status, 202);
  assert.equal((await raw('GET', `${W}/jobs?listViewType=aLL&${VERSION}`)).status, 200);
});

test('what is missing or of the wrong kind is named', async () => {
  for (const [below, body, target] of [
    ['computes/pool', {}, 'properties'],
    ['computes/pool', {properties: {}}, 'properties.computeType'],
    [
      'computes/pool',
      {properties: {computeType: 'AmlCompute', properties: {scaleSettings: {maxNodeCount: 'many'}}}},
      'properties.properties.scaleSettings.maxNodeCount',
    ],
    [
      'computes/pool',
      {properties: {computeType: 'AmlCompute', properties: {vmPriority: 'Cheap'}}},
      'properties.properties.vmPriority',
    ],
    ['computes/pool', {properties: {computeType: 'Abacus'}}, 'properties.computeType'],
    ['environments/e/versions/1', {}, 'properties'],
    ['environments/e/versions/1', {properties: {}}, 'properties.image'],
    ['environments/e/versions/1', {properties: {image: 5}}, 'properties.image'],
    ['data/d/versions/1', {properties: {dataType: 'uri_file'}}, 'properties.dataUri'],
    ['data/d/versions/1', {properties: {dataType: 'uri_thing', dataUri: 'https://example.org'}}, 'properties.dataType'],
    ['codes/c/versions/1', {properties: {}}, 'properties.codeUri'],
    [
      'codes/c/versions/1',
      {properties: {codeUri: 'azureml://datastores/workspaceblobstore/paths/nothing/'}},
      'properties.codeUri',
    ],
    ['models/m/versions/1', {properties: {}}, 'properties.modelUri'],
    ['components/c/versions/1', {properties: {}}, 'properties.componentSpec'],
    ['jobs/j', {properties: {}}, 'properties.jobType'],
    ['jobs/j', {properties: {jobType: 'Command'}}, 'properties.command'],
    [
      'jobs/j',
      {properties: {jobType: 'Command', command: 'true', limits: {timeout: 'soon'}}},
      'properties.limits.timeout',
    ],
  ]) {
    const answer = await raw('PUT', `${W}/${below}?${VERSION}`, body);
    check_error(answer, 400, 'UserError', /./, target);
    assert.equal((await raw('GET', `${W}/${below}?${VERSION}`)).status, 404, `${below} was made`);
  }
});

test('bodies that are not JSON objects are refused', async () => {
  for (const body of [
    '',
    '{',
    '[]',
    '"text"',
    'null',
    '{"properties":{"image":"a"}} x',
    '{"properties":' + '['.repeat(5000),
  ]) {
    check_error(await raw('PUT', `${W}/environments/e/versions/1?${VERSION}`, body), 400, 'UserError', /./);
  }
  assert.equal((await raw('GET', `${W}/environments/e?${VERSION}`)).status, 404);
});

test("fields that are not known or not the client's to say are skipped", async () => {
  const made = await raw('PUT', `${W}/environments/extra/versions/1?${VERSION}`, {
    id: '/elsewhere',
    name: 'other',
    type: 'Something',
    systemData: {createdBy: 'mallory'},
    novelty: {a: [1]},
    properties: {image: 'debian:12', provisioningState: 'Failed', environmentType: 'Curated', novelty: true},
  });
  assert.equal(made.status, 201);
  const found = await arm.environmentVersions.get(...here, 'extra', '1');
  assert.equal(found.id, `${W}/environments/extra/versions/1`);
  assert.equal(found.properties.provisioningState, 'Succeeded');
  assert.equal(found.properties.environmentType, 'UserCreated');
  assert.notEqual(found.systemData.createdBy, 'mallory');
  assert.ok(!('novelty' in found.properties));
});

test("a continuation that is made up, or another list's, is refused", async () => {
  for (const number of ['1', '2', '3'])
    await arm.environmentVersions.createOrUpdate(...here, 'paged', number, environment);
  await arm.environmentVersions.createOrUpdate(...here, 'other', '1', environment);
  const page = await raw('GET', `${W}/environments/paged/versions?$top=1&${VERSION}`);
  const next = new URL(page.body.nextLink);
  assert.equal((await raw('GET', next.pathname + next.search)).status, 200);

  const token = next.searchParams.get('$skip');
  for (const name of ['$skip', '$skipToken']) {
    for (const made_up of ['5', '-1', 'abc', `${token}0`, '9'.repeat(40), token.replace(/^\d+/, '2'), "1' OR '1'='1"]) {
      const answer = await raw(
        'GET',
        `${W}/environments/paged/versions?${name}=${encodeURIComponent(made_up)}&${VERSION}`,
      );
      check_error(answer, 400, 'UserError', /nextLink/, name);
    }
  }
  for (const list of [
    'environments/other/versions',
    'environments',
    'jobs',
    'computes',
    'data',
    'onlineEndpoints',
    'schedules',
  ]) {
    check_error(
      await raw('GET', `${W}/${list}?$skip=${token}&${VERSION}`),
      400,
      'UserError',
      /not a continuation of this list/,
      '$skip',
    );
  }
  await assert.rejects(all(arm.jobs.list(...here, {skip: token})), {statusCode: 400, code: 'UserError'});
});

test('a page has at least one and at most a thousand', async () => {
  for (const top of ['0', '-1', 'x', '1.5', '1e3', '9'.repeat(30)]) {
    check_error(
      await raw('GET', `${W}/environments/paged/versions?$top=${top}&${VERSION}`),
      400,
      'UserError',
      /\$top/,
      '$top',
    );
  }
  const page = await raw('GET', `${W}/environments/paged/versions?$top=100000&${VERSION}`);
  assert.equal(page.body.value.length, 3);
  check_error(
    await raw('GET', `${W}/environments/paged/versions?$orderBy=colour&${VERSION}`),
    400,
    'UserError',
    /createdtime/,
    '$orderBy',
  );
  check_error(
    await raw('GET', `${W}/environments?listViewType=Some&${VERSION}`),
    400,
    'UserError',
    /ActiveOnly/,
    'listViewType',
  );
});

test('names that are too long or no names at all are refused', async () => {
  const long = 'a'.repeat(256);
  for (const [below, body] of [
    [`environments/${long}/versions/1`, environment],
    [`environments/e/versions/${long}`, environment],
    [`jobs/${long}`, {properties: {jobType: 'Command', command: 'true'}}],
    [`data/${'a'.repeat(5000)}`, {properties: {dataType: 'uri_file'}}],
  ]) {
    check_error(await raw('PUT', `${W}/${below}?${VERSION}`, body), 400, 'UserError', /1 to 255/);
  }
  const cluster = {location: 'local', properties: {computeType: 'AmlCompute', properties: {vmSize: 'Standard_DS1_v2'}}};
  for (const name of ['x', 'a'.repeat(25), '1st', 'a_b', 'local']) {
    check_error(await raw('PUT', `${W}/computes/${name}?${VERSION}`, cluster), 400, 'UserError', /name/, 'name');
  }
  check_error(await raw('PUT', `${W}x/../../y?${VERSION}`, {}), 404, 'ResourceNotFound', /./);
});

test('deleting what is not there is no error, and asking for it is', async () => {
  for (const below of [
    'environments/none',
    'environments/none/versions/1',
    'data/none',
    'models/none/versions/2',
    'codes/none',
    'components/none',
    'jobs/none',
    'computes/none',
    'onlineEndpoints/none',
    'schedules/none',
    'connections/none',
  ]) {
    assert.equal((await raw('DELETE', `${W}/${below}?underlyingResourceAction=Delete&${VERSION}`)).status, 204, below);
    check_error(await raw('GET', `${W}/${below}?${VERSION}`), 404, 'ResourceNotFound', /none/);
  }
  check_error(
    await raw('DELETE', `${W}/computes/none?${VERSION}`),
    400,
    'UserError',
    /Delete.*Detach/,
    'underlyingResourceAction',
  );
  check_error(await raw('POST', `${W}/jobs/none/cancel?${VERSION}`), 404, 'ResourceNotFound', /none/);
  check_error(await raw('PATCH', `${W}/computes/none?${VERSION}`, {}), 404, 'ResourceNotFound', /none/);
});

test('addresses that nobody knows are not found', async () => {
  for (const below of ['/teapots', '/teapots/one', '/jobs/j/brew']) {
    check_error(await raw('GET', `${W}${below}?${VERSION}`), 404, 'ResourceNotFound', /./);
  }
  check_error(
    await raw('GET', `${W.replace('/default', '/elsewhere')}/jobs?${VERSION}`),
    404,
    'ResourceNotFound',
    /'elsewhere'/,
  );
});

test('what Berth does not have yet is not made, and says what it is', async () => {
  for (const [collection, kind] of [
    ['onlineEndpoints', 'online endpoint'],
    ['batchEndpoints', 'batch endpoint'],
    ['schedules', 'schedule'],
    ['connections', 'workspace connection'],
    ['privateEndpointConnections', 'private endpoint connection'],
    ['serverlessEndpoints', 'serverless endpoint'],
    ['marketplaceSubscriptions', 'marketplace subscription'],
    ['outboundRules', 'outbound rule'],
    ['featuresets', 'feature set'],
    ['featurestoreEntities', 'feature store entity'],
    ['labelingJobs', 'labeling job'],
  ]) {
    const answer = await raw('PUT', `${W}/${collection}/new?${VERSION}`, {properties: {}});
    check_error(answer, 501, 'NotSupported', new RegExp(`'new' was not made.*'${kind}'`));
    assert.deepEqual((await raw('GET', `${W}/${collection}?${VERSION}`)).body, {value: []});
    check_error(await raw('GET', `${W}/${collection}/new?${VERSION}`), 404, 'ResourceNotFound', /'new'/);
  }
  const registries = `${W.slice(0, W.indexOf('/workspaces'))}/registries`;
  check_error(await raw('PUT', `${registries}/new?${VERSION}`, {}), 501, 'NotSupported', /'registry'/);
  assert.deepEqual((await raw('GET', `${registries}?${VERSION}`)).body, {value: []});
});

test('an operation is polled to its end though its cluster is gone', async () => {
  const cluster = {location: 'local', properties: {computeType: 'AmlCompute', properties: {vmSize: 'Standard_DS1_v2'}}};
  const made = await raw('PUT', `${W}/computes/brief?${VERSION}`, cluster);
  const poll = (answer, header) => raw('GET', new URL(answer.headers.get(header)).pathname + `?${VERSION}`);
  const gone = await raw('DELETE', `${W}/computes/brief?underlyingResourceAction=Delete&${VERSION}`);
  assert.equal(gone.status, 202);
  for (const answer of [made, gone]) {
    const status = await poll(answer, 'azure-asyncoperation');
    assert.equal(status.status, 200);
    assert.equal(status.body.status, 'Succeeded');
    assert.equal(status.headers.get('retry-after'), '1');
  }
  assert.equal((await poll(gone, 'location')).status, 204);
  check_error(await poll(made, 'location'), 404, 'ResourceNotFound', /'brief'/);
  check_error(
    await raw('GET', `${W}/computes/brief/operations/made-up?${VERSION}`),
    404,
    'ResourceNotFound',
    /made-up/,
  );
});

test('quota updates that are not quota updates are refused', async () => {
  const update = (body) =>
    raw('POST', `/subscriptions/${SUBSCRIPTION}${PROVIDER}/locations/local/updateQuotas?${VERSION}`, body);
  const before = await all(arm.quotas.list('local'));
  for (const [body, target] of [
    [{}, 'value'],
    [{value: {}}, 'value'],
    [{value: [5]}, 'value[0]'],
    [{value: [{limit: 5}]}, 'value[0].id'],
    [{value: [{id: 'x/TotalNodes'}]}, 'value[0].limit'],
    [{value: [{id: 'x/TotalNodes', limit: 2.5}]}, 'value[0].limit'],
    [
      {
        value: [
          {id: 'x/TotalNodes', limit: 4},
          {id: 'x/TotalNodes', limit: -2},
        ],
      },
      'value[1].limit',
    ],
    [{value: [{id: 'x/TotalNodes', limit: 1e18}]}, 'value[0].limit'],
    [{value: [{id: 'x/TotalNodes', limit: 4, unit: 'Bushels'}]}, 'value[0].unit'],
  ]) {
    check_error(await update(body), 400, 'UserError', /./, target);
  }
  assert.deepEqual(await all(arm.quotas.list('local')), before);
});

test('nobody gets in without a token', async () => {
  for (const headers of [{Authorization: ''}, {Authorization: 'Bearer made-up'}, {Authorization: 'Basic b3duZXI6'}]) {
    check_error(await raw('GET', `${W}?${VERSION}`, undefined, headers), 401, 'InvalidAuthenticationToken', /token/);
    check_error(
      await raw('PUT', `${W}/onlineEndpoints/x?${VERSION}`, {}, headers),
      401,
      'InvalidAuthenticationToken',
      /token/,
    );
  }
  const stranger = new Client(undefined, {token: 'made-up'});
  await assert.rejects(stranger.arm.workspaces.get(...here), {statusCode: 401, code: 'InvalidAuthenticationToken'});
});

test('every answer to the client was as it expects', () => assert.deepEqual(client.problems, []));
