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
  process.env.IDENTITY_HEADER = 'made-up';
  await assert.rejects(new ManagedIdentityCredential().getToken('https://management.azure.com/.default'));
});
