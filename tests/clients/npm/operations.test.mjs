// SPDX-License-Identifier: Apache-2.0
// Every operation of the client is answered, and docs/arm-operations.md says how: the table is made of what is
// observed here. BERTH_WRITE_TABLE=1 writes it anew.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'node:fs';
import {test} from 'node:test';

import {calls} from './calls.mjs';
import {Client} from './client.mjs';
import {rowsOf, tableOf} from './table.mjs';

const TABLE = new URL('../../../docs/arm-operations.md', import.meta.url);
const EVERY = {'2.1.1': 119, '1.0.0': 115};
/** What a release does not say, though it should (client.mjs, submit); the server's answer is then another. */
const UNSAID = {'1.0.0': {'jobs.createOrUpdate': /'properties.command' is missing/}};

/** Makes the call, and says what came of it. */
async function observe(client, operation, call, left) {
  const [group, method] = operation.split('.');
  const first = client.exchanges.length;
  let failure;
  try {
    await call(client.arm[group], left, client);
  } catch (error) {
    failure = error;
  }
  // A call may look at other things on its way; the operation itself is the last of its kind that was not a poll.
  const exchange = client.exchanges
    .slice(first)
    .filter((each) => !each.isPoll && isOwn(each, method))
    .at(-1);
  assert.ok(exchange, `${operation} reached the server: ${failure}`);
  return {operation, ...exchange, failure};
}

const VERBS = [
  [/^begin(Delete)|^delete/, 'DELETE'],
  [/CreateOrUpdate$|^create/, 'PUT'],
  [/^beginUpdate$/, 'PATCH'],
  [/^(get|list|listBy.*|listSkus|listOutbound.*)$/, 'GET'],
];
const isOwn = ({method}, name) => method === (VERBS.find(([form]) => form.test(name))?.[1] ?? 'POST');

/** Answered: by success, or by an ARM error about the thing itself; not because nobody looked at the address. */
function check_answer({operation, status, body, failure}) {
  if (status < 300) return assert.equal(failure, undefined, `${operation}: ${failure}`);
  assert.ok([400, 404, 409, 501].includes(status), `${operation}: ${status} ${JSON.stringify(body)}`);
  assert.equal(failure?.statusCode, status, `${operation}: the client has seen the error: ${failure}`);
  assert.equal(failure.code, body.error.code, operation);
  assert.doesNotMatch(body.error.message, /nothing at this address|this address takes/, operation);
}

test('every operation is answered, as the table says', async () => {
  const client = new Client(),
    older = new Client('arm-machinelearning-1.0');
  const operations = client.operations();
  assert.equal(operations.length, EVERY[client.version]);
  assert.deepEqual(
    operations.filter((name) => !calls.some(([called]) => called === name)),
    [],
    'operations never called',
  );

  const left = {},
    observed = [];
  for (const [operation, call] of calls.filter(([name]) => operations.includes(name))) {
    const seen = await observe(client, operation, call, left);
    check_answer(seen);
    observed.push(seen);
  }

  assert.deepEqual(client.problems, [], 'answers that the client does not expect');
  const {text, implemented} = tableOf(observed, older.operations());
  compare(text, client.version);
  console.log(`${client.checker.fields} fields checked, ${client.checker.enums} of them enumerations`);
  console.log(
    `arm-machinelearning ${client.version}: ${observed.length} of ${operations.length} answered, ${implemented} implemented`,
  );
});

/** The newest client has every operation; an older one must see what the table says of those it has. */
function compare(text, version) {
  if (process.env.BERTH_WRITE_TABLE && version === '2.1.1') writeFileSync(TABLE, text);
  const committed = readFileSync(TABLE, 'utf8');
  const hint = 'docs/arm-operations.md is not what was observed; BERTH_WRITE_TABLE=1 writes it anew';
  if (version === '2.1.1') return assert.equal(committed, text, hint);
  const rows = rowsOf(committed);
  for (const [operation, row] of rowsOf(text)) {
    const unsaid = UNSAID[version]?.[operation];
    if (unsaid) assert.match(row, unsaid);
    else assert.equal(rows.get(operation), row, hint);
  }
}
