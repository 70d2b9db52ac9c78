// SPDX-License-Identifier: Apache-2.0
// One call of every operation of the client, in an order in which what they need is there: [operation, call].
// A call is made with the group of operations and with what calls have left behind for each other.
import {GROUP, all, eventually, idOf, submit, upload} from './client.mjs';

const WORKSPACE = 'everything';
const LOCATION = 'local';
const here = [GROUP, WORKSPACE];
const id = (below) => idOf(WORKSPACE, below);

const workspace = [
  [
    'workspaces.beginCreateOrUpdate',
    (g) => g.beginCreateOrUpdateAndWait(...here, {location: LOCATION, friendlyName: 'All of it'}),
  ],
  ['workspaces.get', (g) => g.get(...here)],
  [
    'workspaces.beginUpdate',
    (g) => g.beginUpdateAndWait(...here, {description: 'Every operation once', tags: {kind: 'test'}}),
  ],
  ['workspaces.listByResourceGroup', (g) => all(g.listByResourceGroup(GROUP))],
  ['workspaces.listBySubscription', (g) => all(g.listBySubscription())],
  ['workspaces.beginDiagnose', (g) => g.beginDiagnoseAndWait(...here, {parameters: {value: {storageAccount: {}}}})],
  ['workspaces.listKeys', (g) => g.listKeys(...here)],
  ['workspaces.beginResyncKeys', (g) => g.beginResyncKeysAndWait(...here)],
  ['workspaces.listNotebookAccessToken', (g) => g.listNotebookAccessToken(...here)],
  ['workspaces.beginPrepareNotebook', (g) => g.beginPrepareNotebookAndWait(...here)],
  ['workspaces.listStorageAccountKeys', (g) => g.listStorageAccountKeys(...here)],
  ['workspaces.listNotebookKeys', (g) => g.listNotebookKeys(...here)],
  ['workspaces.listOutboundNetworkDependenciesEndpoints', (g) => g.listOutboundNetworkDependenciesEndpoints(...here)],
  ['workspaceFeatures.list', (g) => all(g.list(...here))],
  ['privateLinkResources.list', (g) => g.list(...here)],
];

const location = [
  ['operations.list', (g) => all(g.list())],
  ['usages.list', (g) => all(g.list(LOCATION))],
  ['virtualMachineSizes.list', (g) => g.list(LOCATION)],
  ['quotas.list', async (g, left) => (left.quotas = await all(g.list(LOCATION)))],
  [
    'quotas.update',
    (g, {quotas}) =>
      g.update(LOCATION, {
        location: LOCATION,
        value: [{id: quotas.find((each) => each.name.value === 'TotalNodes').id, limit: 8, unit: 'Count'}],
      }),
  ],
];

const cluster = {
  location: LOCATION,
  properties: {
    computeType: 'AmlCompute',
    description: 'from zero',
    properties: {
      vmSize: 'Standard_DS1_v2',
      vmPriority: 'Dedicated',
      osType: 'Linux',
      scaleSettings: {minNodeCount: 0, maxNodeCount: 2, nodeIdleTimeBeforeScaleDown: 'PT2M'},
    },
  },
};
const compute = [
  ['computeOperations.beginCreateOrUpdate', (g) => g.beginCreateOrUpdateAndWait(...here, 'pool', cluster)],
  ['computeOperations.get', (g) => g.get(...here, 'pool')],
  [
    'computeOperations.beginUpdate',
    (g) => g.beginUpdateAndWait(...here, 'pool', {properties: {scaleSettings: {minNodeCount: 0, maxNodeCount: 3}}}),
  ],
  ['computeOperations.list', (g) => all(g.list(...here))],
  ['computeOperations.listNodes', (g) => all(g.listNodes(...here, 'pool'))],
  ['computeOperations.listKeys', (g) => g.listKeys(...here, 'pool')],
  ['computeOperations.beginStart', (g) => g.beginStartAndWait(...here, 'pool')],
  ['computeOperations.beginStop', (g) => g.beginStopAndWait(...here, 'pool')],
  ['computeOperations.beginRestart', (g) => g.beginRestartAndWait(...here, 'pool')],
  ['computeOperations.beginDelete', (g) => g.beginDeleteAndWait(...here, 'pool', 'Delete')],
];

const datastores = [
  ['datastores.list', (g) => all(g.list(...here))],
  ['datastores.get', (g) => g.get(...here, 'workspaceblobstore')],
  [
    'datastores.listSecrets',
    async (g, left, client) => {
      await g.listSecrets(...here, 'workspaceblobstore');
      left.codeUri = await upload(client.arm, WORKSPACE, 'code/1/train.py', 'print("hello")\n');
    },
  ],
  [
    'datastores.createOrUpdate',
    (g) =>
      g.createOrUpdate(...here, 'elsewhere', {
        properties: {
          datastoreType: 'AzureBlob',
          accountName: 'account',
          containerName: 'container',
          endpoint: 'core.windows.net',
          protocol: 'https',
          credentials: {credentialsType: 'None'},
        },
      }),
  ],
  ['datastores.delete', (g) => g.delete(...here, 'elsewhere')],
];

/** The eight operations of an asset: containers, and their versions. */
const asset = (kind, container, version) => [
  [`${kind}Containers.createOrUpdate`, (g) => g.createOrUpdate(...here, 'thing', {properties: container})],
  [`${kind}Containers.get`, (g) => g.get(...here, 'thing')],
  [`${kind}Versions.createOrUpdate`, (g, left) => g.createOrUpdate(...here, 'thing', '1', {properties: version(left)})],
  [`${kind}Versions.get`, (g) => g.get(...here, 'thing', '1')],
  [`${kind}Versions.list`, (g) => all(g.list(...here, 'thing', {top: 1, orderBy: 'createdtime desc'}))],
  [`${kind}Containers.list`, (g) => all(g.list(...here))],
];
/** Last: jobs need the environment. */
const without = (kind) => [
  [`${kind}Versions.delete`, (g) => g.delete(...here, 'thing', '1')],
  [`${kind}Containers.delete`, (g) => g.delete(...here, 'thing')],
];
const component = {
  name: 'thing',
  version: '1',
  type: 'command',
  command: 'true',
  environment: `azureml:${id('environments/thing/versions/1')}`,
};
const assets = [
  ...asset('code', {}, ({codeUri}) => ({codeUri: codeUri.slice(0, codeUri.lastIndexOf('/'))})),
  ...asset('data', {dataType: 'uri_file'}, () => ({dataType: 'uri_file', dataUri: 'https://example.org/rows.csv'})),
  ...asset('environment', {}, () => ({image: 'debian:12'})),
  ...asset('component', {}, () => ({componentSpec: component})),
  ...asset('model', {}, ({codeUri}) => ({modelUri: codeUri, modelType: 'custom_model'})),
];

const job = {
  jobType: 'Command',
  command: 'sleep 600',
  environmentId: id('environments/thing/versions/1'),
  displayName: 'Once',
  tags: {a: 'b'},
};
const jobs = [
  [
    'jobs.createOrUpdate',
    async (g, left, client) => {
      if (client.version === '1.0.0') await submit(client, WORKSPACE, 'once', job);
      await g.createOrUpdate(...here, 'once', {properties: job});
    },
  ],
  ['jobs.get', (g) => g.get(...here, 'once')],
  ['jobs.list', (g) => all(g.list(...here))],
  ['jobs.beginCancel', (g) => g.beginCancelAndWait(...here, 'once')],
  [
    'jobs.beginDelete',
    async (g) => {
      await eventually(
        async () => (await g.get(...here, 'once')).properties.status === 'Canceled',
        'the end of the job',
      );
      await g.beginDeleteAndWait(...here, 'once');
    },
  ],
];

// Collections that Berth does not have yet.

const endpoint = {location: LOCATION, properties: {authMode: 'Key'}};
const deployment = {
  location: LOCATION,
  properties: {endpointComputeType: 'Managed', model: 'azureml:thing:1', instanceType: 'Standard_DS1_v2'},
};
const absent = [
  ['onlineEndpoints.beginCreateOrUpdate', (g) => g.beginCreateOrUpdateAndWait(...here, 'shop', endpoint)],
  ['onlineEndpoints.list', (g) => all(g.list(...here))],
  ['onlineEndpoints.get', (g) => g.get(...here, 'shop')],
  ['onlineEndpoints.beginUpdate', (g) => g.beginUpdateAndWait(...here, 'shop', {tags: {a: 'b'}})],
  ['onlineEndpoints.listKeys', (g) => g.listKeys(...here, 'shop')],
  ['onlineEndpoints.beginRegenerateKeys', (g) => g.beginRegenerateKeysAndWait(...here, 'shop', {keyType: 'Primary'})],
  ['onlineEndpoints.getToken', (g) => g.getToken(...here, 'shop')],
  ['onlineEndpoints.beginDelete', (g) => g.beginDeleteAndWait(...here, 'shop')],
  ['onlineDeployments.beginCreateOrUpdate', (g) => g.beginCreateOrUpdateAndWait(...here, 'shop', 'blue', deployment)],
  ['onlineDeployments.list', (g) => all(g.list(...here, 'shop'))],
  ['onlineDeployments.get', (g) => g.get(...here, 'shop', 'blue')],
  ['onlineDeployments.beginUpdate', (g) => g.beginUpdateAndWait(...here, 'shop', 'blue', {tags: {a: 'b'}})],
  [
    'onlineDeployments.getLogs',
    (g) => g.getLogs(...here, 'shop', 'blue', {containerType: 'StorageInitializer', tail: 10}),
  ],
  ['onlineDeployments.listSkus', (g) => all(g.listSkus(...here, 'shop', 'blue'))],
  ['onlineDeployments.beginDelete', (g) => g.beginDeleteAndWait(...here, 'shop', 'blue')],
  [
    'batchEndpoints.beginCreateOrUpdate',
    (g) => g.beginCreateOrUpdateAndWait(...here, 'night', {location: LOCATION, properties: {authMode: 'AADToken'}}),
  ],
  ['batchEndpoints.list', (g) => all(g.list(...here))],
  ['batchEndpoints.get', (g) => g.get(...here, 'night')],
  ['batchEndpoints.beginUpdate', (g) => g.beginUpdateAndWait(...here, 'night', {tags: {a: 'b'}})],
  ['batchEndpoints.listKeys', (g) => g.listKeys(...here, 'night')],
  ['batchEndpoints.beginDelete', (g) => g.beginDeleteAndWait(...here, 'night')],
  [
    'batchDeployments.beginCreateOrUpdate',
    (g) =>
      g.beginCreateOrUpdateAndWait(...here, 'night', 'blue', {
        location: LOCATION,
        properties: {compute: id('computes/pool')},
      }),
  ],
  ['batchDeployments.list', (g) => all(g.list(...here, 'night'))],
  ['batchDeployments.get', (g) => g.get(...here, 'night', 'blue')],
  ['batchDeployments.beginUpdate', (g) => g.beginUpdateAndWait(...here, 'night', 'blue', {tags: {a: 'b'}})],
  ['batchDeployments.beginDelete', (g) => g.beginDeleteAndWait(...here, 'night', 'blue')],
  [
    'schedules.beginCreateOrUpdate',
    (g) =>
      g.beginCreateOrUpdateAndWait(...here, 'nightly', {
        properties: {
          trigger: {triggerType: 'Cron', expression: '0 3 * * *'},
          action: {actionType: 'CreateJob', jobDefinition: job},
        },
      }),
  ],
  ['schedules.list', (g) => all(g.list(...here))],
  ['schedules.get', (g) => g.get(...here, 'nightly')],
  ['schedules.beginDelete', (g) => g.beginDeleteAndWait(...here, 'nightly')],
  [
    'workspaceConnections.create',
    (g) => g.create(...here, 'store', {properties: {authType: 'None', category: 'Git', target: 'https://example.org'}}),
  ],
  ['workspaceConnections.list', (g) => all(g.list(...here, {category: 'Git'}))],
  ['workspaceConnections.get', (g) => g.get(...here, 'store')],
  ['workspaceConnections.delete', (g) => g.delete(...here, 'store')],
  [
    'privateEndpointConnections.createOrUpdate',
    (g) =>
      g.createOrUpdate(...here, 'link', {
        privateLinkServiceConnectionState: {status: 'Approved', description: 'please'},
      }),
  ],
  ['privateEndpointConnections.list', (g) => all(g.list(...here))],
  ['privateEndpointConnections.get', (g) => g.get(...here, 'link')],
  ['privateEndpointConnections.delete', (g) => g.delete(...here, 'link')],
];

export const calls = [
  ...workspace,
  ...location,
  ...compute,
  ...datastores,
  ...assets,
  ...jobs,
  ...['code', 'data', 'component', 'model', 'environment'].flatMap(without),
  ...absent,
  ['workspaces.beginDelete', (g) => g.beginDeleteAndWait(...here)],
];
