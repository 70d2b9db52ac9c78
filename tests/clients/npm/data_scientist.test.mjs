// SPDX-License-Identifier: Apache-2.0
// A data scientist's day: data, code and an environment go up, a job trains on a cluster, what came of it is
// registered; lists are longer than a page.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Client, GROUP, all, eventually, idOf, refused, submit, upload} from './client.mjs';

const client = new Client();
const {arm} = client;
const WORKSPACE = 'default';
const here = [GROUP, WORKSPACE];
const id = (below) => idOf(WORKSPACE, below);
const finished = (name, status) =>
  eventually(async () => {
    const job = await arm.jobs.get(...here, name);
    const now = job.properties.status;
    assert.ok(now === status || !['Completed', 'Failed', 'Canceled'].includes(now), `${name} is ${now}`);
    return now === status && job;
  }, `${name} ${status}`);
const names = (resources) => resources.map((each) => each.name);
const folder = (uri) => uri.slice(0, uri.lastIndexOf('/'));

/** One valid version of each kind of asset, told apart by a number. */
const KINDS = {
  code: async (number) => ({
    codeUri: folder(await upload(arm, WORKSPACE, `code/${number}/main.py`, `print(${number})\n`)),
  }),
  data: (number) => ({
    dataType: 'uri_folder',
    dataUri: `azureml://datastores/workspaceblobstore/paths/rows/${number}/`,
  }),
  environment: (number) => ({image: `debian:${number}`}),
  model: async (number) => ({
    modelUri: await upload(arm, WORKSPACE, `models/${number}/weights.bin`, `${number}`),
    modelType: 'custom_model',
  }),
  component: (number) => ({
    componentSpec: {name: 'step', version: `${number}`, type: 'command', command: `echo ${number}`},
  }),
};

for (const [kind, body] of Object.entries(KINDS)) {
  const containers = arm[`${kind}Containers`],
    versions = arm[`${kind}Versions`];
  const container = kind === 'data' ? {dataType: 'uri_folder'} : {};

  test(`${kind}: versions are made, listed over pages, newest or oldest first, and deleted`, async () => {
    await containers.createOrUpdate(...here, 'long', {properties: {description: 'many', tags: {a: 'b'}, ...container}});
    const wanted = Array.from({length: 57}, (_, index) => `${index + 1}`);
    for (const number of wanted)
      await versions.createOrUpdate(...here, 'long', number, {properties: await body(number)});

    const pages = await all(versions.list(...here, 'long').byPage());
    assert.ok(pages.length > 1, `${pages.length} pages`);
    assert.deepEqual(names(pages.flat()), wanted.toReversed?.() ?? [...wanted].reverse());
    assert.deepEqual(names(await all(versions.list(...here, 'long', {orderBy: 'createdtime asc'}))), wanted);
    const small = await all(versions.list(...here, 'long', {top: 20}).byPage());
    assert.deepEqual(
      small.map((page) => page.length),
      [20, 20, 17],
    );

    const found = await containers.get(...here, 'long');
    assert.equal(found.properties.latestVersion, '57');
    assert.equal(found.properties.nextVersion, '58');
    assert.deepEqual(found.properties.tags, {a: 'b'});
    await versions.delete(...here, 'long', '57');
    assert.equal((await containers.get(...here, 'long')).properties.latestVersion, '56');
    await containers.delete(...here, 'long');
    await assert.rejects(versions.get(...here, 'long', '1'), refused(404, 'ResourceNotFound', /'long'/));
    await assert.rejects(containers.get(...here, 'long'), refused(404, 'ResourceNotFound', /'long'/));
  });

  test(`${kind}: a version keeps its content, and its labels may change`, async () => {
    const properties = await body(1001);
    const made = await versions.createOrUpdate(...here, 'fixed', '1', {properties});
    const again = await versions.createOrUpdate(...here, 'fixed', '1', {
      properties: {...properties, description: 'better', tags: {x: 'y'}},
    });
    assert.equal(again.id, made.id);
    assert.equal(again.properties.description, 'better');
    await assert.rejects(
      versions.createOrUpdate(...here, 'fixed', '1', {properties: await body(1002)}),
      refused(409, 'Conflict', /version '1' of 'fixed' exists with other content/),
    );
    assert.deepEqual((await versions.get(...here, 'fixed', '1')).properties, again.properties);
  });

  test(`${kind}: what is archived is out of the way`, async () => {
    const properties = await body(2001);
    await versions.createOrUpdate(...here, 'old', '1', {properties: {...properties, isArchived: true}});
    assert.deepEqual(await all(versions.list(...here, 'old')), []);
    if (kind !== 'code') {
      // Code has no such choice in this client.
      assert.deepEqual(names(await all(versions.list(...here, 'old', {listViewType: 'All'}))), ['1']);
      assert.deepEqual(names(await all(versions.list(...here, 'old', {listViewType: 'ArchivedOnly'}))), ['1']);
    }
  });
}

test('versions of a model are found by what is said of them', async () => {
  for (const [version, description, stage] of [
    ['1', 'first try', 'raw'],
    ['2', 'second try', 'raw'],
    ['3', 'final', 'done'],
  ]) {
    await arm.modelVersions.createOrUpdate(...here, 'searched', version, {
      properties: {...(await KINDS.model(version)), description, tags: {stage}, properties: {seed: version}},
    });
  }
  const found = async (options) => names(await all(arm.modelVersions.list(...here, 'searched', options)));
  assert.deepEqual(await found({version: '2'}), ['2']);
  assert.deepEqual(await found({version: '9'}), []);
  assert.deepEqual(await found({description: 'try'}), ['2', '1']);
  assert.deepEqual(await found({tags: 'stage=raw'}), ['2', '1']);
  assert.deepEqual(await found({properties: 'seed=3'}), ['3']);
  assert.deepEqual(await found({offset: 1}), ['2', '1']);
  assert.deepEqual(await found({offset: 1, top: 1}), ['2', '1']);
  await assert.rejects(found({feed: 'elsewhere'}), refused(501, 'NotSupported', /feed/));
});

test('more containers than a page holds are all listed', async () => {
  const wanted = Array.from({length: 55}, (_, index) => `set${index}`);
  for (const name of wanted)
    await arm.dataContainers.createOrUpdate(...here, name, {properties: {dataType: 'uri_file'}});
  const pages = await all(arm.dataContainers.list(...here).byPage());
  assert.ok(pages.length > 1);
  const listed = names(pages.flat());
  assert.equal(new Set(listed).size, listed.length);
  for (const name of wanted) assert.ok(listed.includes(name), name);
});

test('the type of data is what it was made with', async () => {
  await arm.dataContainers.createOrUpdate(...here, 'typed', {properties: {dataType: 'uri_file'}});
  await assert.rejects(
    arm.dataContainers.createOrUpdate(...here, 'typed', {properties: {dataType: 'mltable'}}),
    refused(409, 'Conflict', /dataType/),
  );
  assert.equal((await arm.dataContainers.get(...here, 'typed')).properties.dataType, 'uri_file');
});

test('data is found by its tags', async () => {
  await arm.dataVersions.createOrUpdate(...here, 'tagged', '1', {properties: {...KINDS.data(1), tags: {stage: 'raw'}}});
  await arm.dataVersions.createOrUpdate(...here, 'tagged', '2', {
    properties: {...KINDS.data(2), tags: {stage: 'clean'}},
  });
  assert.deepEqual(names(await all(arm.dataVersions.list(...here, 'tagged', {tags: 'stage=clean'}))), ['2']);
});

test('a job trains with code and an environment on a cluster, and its result becomes a model', async () => {
  await upload(arm, WORKSPACE, 'trainer/rows.csv', 'a,b\n1,2\n3,4\n');
  const code = await upload(arm, WORKSPACE, 'trainer/train.sh', 'head -n "$1" rows.csv > "$2/model.csv"\n');
  await arm.codeVersions.createOrUpdate(...here, 'trainer', '1', {properties: {codeUri: folder(code)}});
  await arm.environmentVersions.createOrUpdate(...here, 'plain', '1', {properties: {image: 'debian:12'}});
  await arm.computeOperations.beginCreateOrUpdateAndWait(...here, 'train-pool', {
    location: 'local',
    properties: {
      computeType: 'AmlCompute',
      properties: {vmSize: 'Standard_DS1_v2', scaleSettings: {maxNodeCount: 1}},
    },
  });

  const submitted = await submit(client, WORKSPACE, 'train-ships', {
    jobType: 'Command',
    command: 'bash train.sh ${{inputs.count}} ${{outputs.model}}',
    codeId: id('codes/trainer/versions/1'),
    environmentId: id('environments/plain/versions/1'),
    computeId: id('computes/train-pool'),
    experimentName: 'ships',
    displayName: 'Train with ships',
    tags: {kind: 'train'},
    resources: {instanceCount: 1},
    limits: {jobLimitsType: 'Command', timeout: 'PT10M'},
    inputs: {count: {jobInputType: 'literal', value: '2'}},
    outputs: {model: {jobOutputType: 'uri_folder'}},
  });
  assert.equal(submitted.properties.jobType, 'Command');
  assert.equal(submitted.properties.limits.timeout, 'PT10M');
  assert.ok(submitted.properties.services.Studio.endpoint);

  const job = await finished('train-ships', 'Completed');
  assert.equal(job.properties.experimentName, 'ships');
  const model = await arm.modelVersions.createOrUpdate(...here, 'ship-counter', '1', {
    properties: {
      modelUri: 'azureml://jobs/train-ships/outputs/model/',
      modelType: 'custom_model',
      jobName: 'train-ships',
    },
  });
  assert.equal(model.properties.modelType, 'custom_model');
  assert.deepEqual(names(await all(arm.jobs.list(...here, {tag: 'kind=train'}))), ['train-ships']);
  assert.deepEqual(names(await all(arm.jobs.list(...here, {jobType: 'Command'}))), ['train-ships']);
  await arm.computeOperations.beginDeleteAndWait(...here, 'train-pool', 'Delete');
});

test('what a release leaves out of a job is named', async () => {
  // 2.1.1 looks for uri_file under the wrong parent's name, and sends an input without its uri; 1.0.0 for all of the job.
  const properties = {
    jobType: 'Command',
    command: 'cat ${{inputs.rows}}',
    environmentId: id('environments/plain/versions/1'),
    inputs: {rows: {jobInputType: 'uri_file', uri: 'azureml:ships:1'}},
  };
  await assert.rejects(
    arm.jobs.createOrUpdate(...here, 'no-address', {properties}),
    refused(400, 'UserError', /properties.inputs.rows.uri|properties.command/),
  );
  await assert.rejects(arm.jobs.get(...here, 'no-address'), refused(404, 'ResourceNotFound', /no-address/));
});

test('more jobs than a page holds are all listed, newest first', async () => {
  const quick = {
    jobType: 'Command',
    command: 'true',
    environmentId: id('environments/plain/versions/1'),
    tags: {batch: 'one'},
  };
  const wanted = Array.from({length: 54}, (_, index) => `quick-${index}`);
  for (const name of wanted) await submit(client, WORKSPACE, name, quick);
  const pages = await all(arm.jobs.list(...here, {tag: 'batch=one'}).byPage());
  assert.ok(pages.length > 1);
  assert.deepEqual(names(pages.flat()), [...wanted].reverse());
  await Promise.all(wanted.map((name) => finished(name, 'Completed')));
});

test('a job is cancelled, archived and deleted', async () => {
  const properties = {jobType: 'Command', command: 'sleep 600', environmentId: id('environments/plain/versions/1')};
  await submit(client, WORKSPACE, 'sleeper', properties);
  await assert.rejects(arm.jobs.beginDeleteAndWait(...here, 'sleeper'), refused(409, 'Conflict', /sleeper/));
  const first = client.exchanges.length;
  const poller = await arm.jobs.beginCancel(...here, 'sleeper');
  await poller.pollUntilDone();
  const [cancel, ...polls] = client.exchanges.slice(first);
  assert.equal(cancel.status, 202);
  assert.ok(cancel.headers.location && polls.length > 0);
  for (const poll of polls) assert.ok(poll.headers['retry-after'] > 0);
  await finished('sleeper', 'Canceled');
  await arm.jobs.beginCancelAndWait(...here, 'sleeper');

  await submit(client, WORKSPACE, 'sleeper', {...properties, isArchived: true});
  assert.ok(!names(await all(arm.jobs.list(...here))).includes('sleeper'));
  assert.deepEqual(names(await all(arm.jobs.list(...here, {listViewType: 'ArchivedOnly'}))), ['sleeper']);
  await arm.jobs.beginDeleteAndWait(...here, 'sleeper');
  await assert.rejects(arm.jobs.get(...here, 'sleeper'), refused(404, 'ResourceNotFound', /'sleeper'/));
  await assert.rejects(arm.jobs.beginCancelAndWait(...here, 'sleeper'), refused(404, 'ResourceNotFound', /'sleeper'/));
});

test('a job is what it was submitted as', async () => {
  const properties = {jobType: 'Command', command: 'true', environmentId: id('environments/plain/versions/1')};
  await submit(client, WORKSPACE, 'same', properties);
  await submit(client, WORKSPACE, 'same', {...properties, displayName: 'Another name'});
  assert.equal((await arm.jobs.get(...here, 'same')).properties.displayName, 'Another name');
  await assert.rejects(
    submit(client, WORKSPACE, 'same', {...properties, command: 'false'}),
    refused(409, 'Conflict', /same/),
  );
  await finished('same', 'Completed');
});

test('the workspace has its two datastores', async () => {
  const stores = await all(arm.datastores.list(...here));
  assert.deepEqual(names(stores).sort(), ['workspaceartifactstore', 'workspaceblobstore']);
  assert.deepEqual(names(await all(arm.datastores.list(...here, {isDefault: true}))), ['workspaceblobstore']);
  assert.deepEqual(names(await all(arm.datastores.list(...here, {names: ['workspaceartifactstore']}))), [
    'workspaceartifactstore',
  ]);
  assert.deepEqual(names(await all(arm.datastores.list(...here, {searchText: 'artifact'}))), [
    'workspaceartifactstore',
  ]);
  assert.equal((await arm.datastores.listSecrets(...here, 'workspaceblobstore')).secretsType, 'Sas');
  await assert.rejects(arm.datastores.get(...here, 'nowhere'), refused(404, 'ResourceNotFound', /'nowhere'/));
});

test('every answer was as the client expects it', () => {
  assert.deepEqual(client.problems, []);
  assert.ok(client.checker.fields > 1000);
});
