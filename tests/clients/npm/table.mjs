// SPDX-License-Identifier: Apache-2.0
// docs/arm-operations.md, made of what was observed.

const PROVIDER = '/subscriptions/{subscriptionId}/providers/Microsoft.MachineLearningServices';
const WORKSPACE = `${PROVIDER.replace('/providers', '/resourceGroups/{resourceGroupName}/providers')}/workspaces/{workspaceName}`;

const HEAD = `# What \`@azure/arm-machinelearning\` can do here

Every operation of the client, and how Berth answers it. Made by \`tests/clients/npm\` of what it observed; the test
fails when this page and the server disagree, and writes it anew with

\`\`\`sh
BERTH_WRITE_TABLE=1 ctest --test-dir build -R clients.arm_machinelearning_2_1
\`\`\`

\`W\` is \`${WORKSPACE}\`,
\`S\` is \`${PROVIDER}\`.

Two faults of the client itself show, here as with Azure: 1.0.0 sends jobs without all that makes them a command,
sweep or pipeline job, and 2.1.1 sends the inputs of jobs without their \`uri\` and \`mode\`. Both are refused with the
name of the field that is missing.
`;

const short = (path) => path.replace(WORKSPACE, 'W').replace(PROVIDER, 'S');

const groupOf = ({operation}) => operation.split('.')[0];
const isMaking = ({operation, method}) => method === 'PUT' && /[cC]reate/.test(operation);

function answerOf({status, body, headers}) {
  if (status < 300) return headers['azure-asyncoperation'] ? `${status}, long-running` : `${status}`;
  return `${status} ${body.error.code}: ${body.error.message}`;
}

function rowOf(each, older) {
  const only = older.includes(each.operation) ? '' : ' (2.1.1 only)';
  return `| \`${each.operation}\`${only} | ${each.method} \`${short(each.path)}\` | ${answerOf(each)} |`;
}

/** Operation -> its row. */
export function rowsOf(text) {
  return new Map([...text.matchAll(/^\| `([\w.]+)`.*$/gm)].map(([row, operation]) => [operation, row]));
}

const headed = (rows) => ['| operation | request | answer |', '|---|---|---|', ...rows, ''].join('\n');

/** An operation is implemented when it succeeds and there is, or can be, anything that it is about. */
export function tableOf(observed, older) {
  const present = new Set(observed.filter((each) => each.operation.endsWith('.get') && each.status < 300).map(groupOf));
  const refused = observed.filter((each) => isMaking(each) && each.status === 501).map(groupOf);
  const absent = new Set(refused.filter((group) => !present.has(group)));
  const isImplemented = (each) => each.status < 300 && !absent.has(groupOf(each));
  const sorted = [...observed].sort((a, b) => (a.operation < b.operation ? -1 : 1));
  const rows = (choose) => headed(sorted.filter(choose).map((each) => rowOf(each, older)));
  const implemented = sorted.filter(isImplemented).length;
  const text = [
    HEAD,
    `${sorted.length} operations, ${implemented} implemented.\n`,
    '## Implemented\n',
    rows(isImplemented),
    '## Refused, because there is nothing here that it could be done to\n',
    rows((each) => !isImplemented(each) && !absent.has(groupOf(each))),
    '## Of resources that Berth does not have yet ([why these answers](decisions/0026-what-is-not-there-yet.md))\n',
    rows((each) => absent.has(groupOf(each))),
  ].join('\n');
  return {text, implemented};
}
