// SPDX-License-Identifier: Apache-2.0
// After eval "$(berth env)": the credentials of @azure/identity find a token by themselves.
import assert from 'node:assert/strict';
import {test} from 'node:test';

import {Client, load} from './client.mjs';

const {DefaultAzureCredential, ManagedIdentityCredential} = load('@azure/identity');
const here = [process.env.AZURE_RESOURCE_GROUP, process.env.AZURE_ML_WORKSPACE];

for (const [name, credential] of [
  ['DefaultAzureCredential', () => new DefaultAzureCredential()],
  ['ManagedIdentityCredential', () => new ManagedIdentityCredential()],
]) {
  test(`${name} is let in`, async () => {
    const client = new Client(undefined, {credential: credential()});
    const workspace = await client.arm.workspaces.get(...here);
    assert.equal(workspace.name, process.env.AZURE_ML_WORKSPACE);
    await client.arm.environmentVersions.createOrUpdate(...here, name.toLowerCase(), '1', {
      properties: {image: 'debian:12'},
    });
    assert.deepEqual(client.problems, []);
  });
}

test("a secret that is not the server's gets no token", async () => {
  // Past the library, which keeps the first secret it has seen for as long as the process lives.
  const ask = (secret) =>
    fetch(`${process.env.IDENTITY_ENDPOINT}?api-version=2019-08-01&resource=https://management.azure.com`, {
      headers: {'X-IDENTITY-HEADER': secret},
    });
  assert.equal((await ask(process.env.IDENTITY_HEADER)).status, 200);
  for (const secret of ['made-up', '', `${process.env.IDENTITY_HEADER}x`]) {
    const answer = await ask(secret);
    assert.equal(answer.status, 401, secret);
    assert.ok(!('access_token' in (await answer.json())));
  }
});
