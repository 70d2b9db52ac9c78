// SPDX-License-Identifier: Apache-2.0
// The client as anybody would make it, with a look at every exchange that goes through it.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

import {Checker, knownValues} from './mapper.mjs';

const folder = process.env.BERTH_CLIENT_MODULES;
export const load = createRequire(path.join(folder, 'package.json'));

export const SUBSCRIPTION = '00000000-0000-0000-0000-000000000000';
export const GROUP = 'berth';
export const ENDPOINT = process.env.BERTH_ENDPOINT;
export const TOKEN = process.env.BERTH_TOKEN;

/** Read-only fields that Berth leaves out, because there is nothing that they could say. */
const ABSENT = {
  '*.nextLink': 'the last page has none',
  'ErrorDetail.target': 'not every error is about a field',
  'ErrorDetail.details': 'an error is one error',
  'ErrorDetail.additionalInfo': 'there is none',
  'Workspace.notebookInfo': 'there are no notebooks',
  'Workspace.serviceProvisionedResourceGroup': 'nothing is provisioned elsewhere',
};

/** Where a long-running operation is polled; what is there has a shape of its own. */
const POLLED = /\/(operations|operationResults|operationStatuses)\/[^/?]+(\?|$)/;

export class Client {
  /** `release` is the folder of node_modules: arm-machinelearning-2.1. */
  constructor(release = process.env.BERTH_CLIENT, options = {}) {
    const exported = load(release);
    const about = JSON.parse(readFileSync(path.join(folder, 'node_modules', release, 'package.json')));
    const credential = options.credential ?? {
      getToken: async () => ({token: options.token ?? TOKEN, expiresOnTimestamp: Date.now() + 3600e3}),
    };
    this.version = about.version;
    this.declarations = path.join(folder, 'node_modules', release, about.types);
    this.exported = exported;
    this.exchanges = [];
    this.problems = [];
    this.arm = new exported.AzureMachineLearningWorkspaces(credential, SUBSCRIPTION, {
      endpoint: ENDPOINT,
      retryOptions: {maxRetries: 0},
      ...options.client,
    });
    this.watch();
  }

  /** The groups of operations: workspaces, computeOperations, … */
  groups() {
    return Object.entries(this.arm).filter(([, group]) => group?.constructor?.name.endsWith('Impl'));
  }

  /** "jobs.beginCancel", …: the REST operations of the client. The rest is made of them. */
  operations() {
    return this.groups().flatMap(([group, methods]) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(methods))
        .filter((name) => !/^constructor$|^_|AndWait$|Paging(Page|All)$/.test(name))
        .map((name) => `${group}.${name}`),
    );
  }

  watch() {
    const send = this.arm.sendOperationRequest.bind(this.arm);
    this.arm.sendOperationRequest = async (args, spec) => {
      let raw;
      const onResponse = (response, ...more) => {
        raw = response;
        args.options?.onResponse?.(response, ...more);
      };
      try {
        return await send({...args, options: {...args.options, onResponse}}, spec);
      } finally {
        if (raw) this.note(spec, raw);
      }
    };
  }

  note(spec, raw) {
    const body = raw.bodyAsText ? JSON.parse(raw.bodyAsText) : undefined;
    const exchange = {
      method: spec.httpMethod,
      path: spec.path,
      url: raw.request.url,
      status: raw.status,
      body,
      headers: raw.headers.toJSON(),
      isPoll: POLLED.test(raw.request.url),
    };
    this.exchanges.push(exchange);
    if (!exchange.isPoll) this.check(spec, exchange);
  }

  /** Every answer has the shape that the client's own mapper for it asks for. */
  check(spec, {status, body, url}) {
    const {serializer} = spec;
    this.checker ??= new Checker(serializer.modelMappers, knownValues(this.declarations, this.exported), ABSENT);
    const response = spec.responses[status] ?? spec.responses.default;
    if (!response.bodyMapper || (status < 300 && body === undefined)) return;
    for (const problem of this.checker.check(response.bodyMapper, body ?? null)) {
      this.problems.push(`${spec.httpMethod} ${new URL(url).pathname}: ${status}: ${problem}`);
    }
  }
}

/** The ARM id of a workspace, or of what is below it. */
export const idOf = (workspace, below) =>
  `/subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}/providers/Microsoft.MachineLearningServices` +
  `/workspaces/${workspace}${below ? `/${below}` : ''}`;

/** For assert.rejects: the client has thrown this ARM error. */
export const refused = (status, code, words) => (error) => {
  assert.equal(error.statusCode, status, error.message);
  assert.equal(error.code, code);
  assert.match(error.message, words);
  return true;
};

/** All of an asynchronous iterator. */
export async function all(iterator) {
  const values = [];
  for await (const value of iterator) values.push(value);
  return values;
}

/** Waits until look() gives something true. */
export async function eventually(look, what, seconds = 60) {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > until) throw new Error(`${what} did not come true in ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A request past the client: what other languages, and mistakes, send. `below` is an ARM path with its query. */
export async function raw(method, below, body, headers = {}) {
  const response = await fetch(ENDPOINT + below, {
    method,
    headers: {Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers},
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return {status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined};
}

/**
 * Submits a job. 1.0.0 cannot: its serializer looks for the kinds of jobs under the wrong parent's name, and sends
 * none of what only a command job has. Whoever has that release submits by other means, and does the rest with it.
 */
export async function submit(client, workspace, name, properties) {
  if (client.version !== '1.0.0') return client.arm.jobs.createOrUpdate(GROUP, workspace, name, {properties});
  const answer = await raw('PUT', `${idOf(workspace, `jobs/${name}`)}?api-version=2022-05-01`, {properties});
  if (answer.status < 300) return answer.body;
  const {code, message} = answer.body.error;
  throw Object.assign(new Error(message), {code, statusCode: answer.status});
}

/** Puts a file into the workspace's own datastore, as clients do before they register code. Returns its address. */
export async function upload(arm, workspace, name, content) {
  const place = await arm.datastores.get(GROUP, workspace, 'workspaceblobstore');
  const secrets = await arm.datastores.listSecrets(GROUP, workspace, 'workspaceblobstore');
  const {accountName, endpoint, containerName} = place.properties;
  const container = `https://${accountName}.blob.${endpoint}/${containerName}`;
  const response = await fetch(`${container}/${name}?${secrets.sasToken}`, {
    method: 'PUT',
    body: content,
    headers: {'x-ms-blob-type': 'BlockBlob', 'x-ms-version': '2021-08-06'},
  });
  if (response.status !== 201) throw new Error(`upload of ${name}: ${response.status} ${await response.text()}`);
  return `${container}/${name}`;
}
