import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { type Listener, listen } from '../../src/adapters/testing-node/listen.ts';
import { openTestApiServer, type TestApiServer } from '../../src/testing/test-api-server.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-kubectl-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** `PLIMSOLL_KUBECTL` names one; else that of the path, if there is one. */
async function findKubectl(): Promise<string | undefined> {
  const named = process.env.PLIMSOLL_KUBECTL;
  try {
    await run(named ?? 'kubectl', ['version', '--client']);
    return named ?? 'kubectl';
  } catch (error) {
    if (named !== undefined) throw error;
    return undefined;
  }
}

async function withListener(test: (listener: Listener, server: TestApiServer) => Promise<void>): Promise<void> {
  const server = await openTestApiServer();
  const listener = await listen(server);
  try {
    await test(listener, server);
  } finally {
    await listener.close();
    await server.close();
  }
}

const MAP = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'ns1' },
  data: { x: '1' },
};
const container = (name: string, image: string) => ({ name, image });
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'ns1' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [container('one', 'x:1'), container('two', 'y:1')] },
    },
  },
};
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', shortNames: ['th'] },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} } }],
  },
};
const THING = {
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 't', namespace: 'ns1' },
  spec: { x: 1 },
};

function fileOf(name: string, body: object): string {
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(body));
  return path;
}

const TABLE =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';
const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';
const MAPS = '/api/v1/namespaces/ns1/configmaps';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';

describe('what kubectl asks', () => {
  /** As kubectl 1.32 sent them for the commands in front, in this order. */
  it('is answered', async () => {
    await withListener(async ({ url }) => {
      const ask = async (
        method: string,
        path: string,
        accept = 'application/json',
        body?: object,
        type = 'application/json',
      ) => {
        const sent = body === undefined ? {} : { body: JSON.stringify(body) };
        const response = await fetch(`${url}${path}`, { method, headers: { accept, 'content-type': type }, ...sent });
        return `${response.status} ${response.headers.get('content-type')} ${(await response.json()).kind}`;
      };
      const plain = (kind: string, status = 200) => `${status} application/json ${kind}`;
      // any command, and the first one with another group
      expect(await ask('GET', '/version?timeout=32s')).toBe(plain('undefined'));
      expect(await ask('GET', '/api?timeout=32s', AGGREGATED)).toMatch(
        /as=APIGroupDiscoveryList APIGroupDiscoveryList$/,
      );
      expect(await ask('GET', '/apis?timeout=32s', AGGREGATED)).toMatch(
        /as=APIGroupDiscoveryList APIGroupDiscoveryList$/,
      );
      // apply -f: not there yet
      expect(await ask('GET', '/openapi/v3?timeout=32s', '*/*')).toBe(plain('undefined'));
      expect(await ask('GET', '/openapi/v3/api/v1?timeout=32s', 'application/json')).toBe(plain('undefined'));
      expect(await ask('GET', `${MAPS}/a`)).toBe(plain('Status', 404));
      const manager = 'fieldManager=kubectl-client-side-apply&fieldValidation=Strict';
      expect(await ask('POST', `${MAPS}?${manager}`, 'application/json', MAP)).toBe(plain('ConfigMap', 201));
      // apply -f again, label, patch
      expect(await ask('PATCH', `${MAPS}/a?${manager}`, 'application/json', { data: { x: '2' } }, STRATEGIC)).toBe(
        plain('ConfigMap'),
      );
      const label = { metadata: { labels: { t: '1' } } };
      expect(await ask('PATCH', `${MAPS}/a?fieldManager=kubectl-label`, 'application/json', label, MERGE)).toBe(
        plain('ConfigMap'),
      );
      // get, get -A -l, get of a kind that nobody has
      expect(await ask('GET', `${MAPS}?limit=500`, TABLE)).toBe(plain('ConfigMapList'));
      expect(await ask('GET', '/api/v1/configmaps?labelSelector=t%3D1&limit=500', TABLE)).toBe(plain('ConfigMapList'));
      // delete, and waiting for its end
      const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };
      expect(await ask('DELETE', `${MAPS}/a`, 'application/json', options)).toBe(plain('Status'));
      expect(await ask('GET', `${MAPS}/a`)).toBe(plain('Status', 404));
    });
  });
});

const kubectl = await findKubectl();
if (kubectl === undefined) console.error('kubectl is not on this machine: not run, its requests were');
else {
  it('kubectl creates, changes, shows, waits for and deletes objects', async () => {
    await withListener(async (listener, server) => {
      const config = join(folder, 'kubeconfig');
      writeFileSync(config, listener.kubeconfig);
      const environment = { ...process.env, HOME: folder, KUBECONFIG: config };
      const ask = async (...words: readonly string[]) => {
        const { stdout } = await run(kubectl, ['-n', 'ns1', '--cache-dir', join(folder, 'cache'), ...words], {
          env: environment,
        });
        return stdout.trim();
      };
      const map = fileOf('map', MAP);
      expect(await ask('create', '-f', map)).toBe('configmap/a created');
      expect(await ask('apply', '-f', fileOf('map', { ...MAP, data: { x: '2' } }))).toBe('configmap/a configured');
      expect(await ask('apply', '-f', map)).toBe('configmap/a unchanged');
      expect(await ask('label', 'cm', 'a', 't=1')).toBe('configmap/a labeled');
      expect(await ask('get', 'cm', '-A', '-l', 't=1')).toMatch(/^NAMESPACE +NAME +AGE\nns1 +a +\d+s$/);
      expect(await ask('patch', 'cm', 'a', '--type=json', '-p', '[{"op":"add","path":"/data/y","value":"3"}]')).toBe(
        'configmap/a patched',
      );
      expect(await ask('get', 'cm', 'a', '-o', 'jsonpath={.data.x}{.data.y}')).toBe('23');
      await ask('apply', '-f', fileOf('deployment', DEPLOYMENT));
      expect(await ask('set', 'image', 'deploy/web', 'two=y:2')).toBe('deployment.apps/web image updated');
      const images = 'jsonpath={.spec.template.spec.containers[*].image}';
      expect(await ask('get', 'deploy', 'web', '-o', images)).toBe('x:1 y:2');
      expect(await ask('apply', '-f', fileOf('definition', DEFINITION))).toMatch(/created$/);
      expect(await ask('wait', '--for=condition=Established', 'crd/things.example.com')).toMatch(/condition met$/);
      expect(await ask('apply', '-f', fileOf('thing', THING))).toBe('thing.example.com/t created');
      expect(
        await ask('patch', 'th', 't', '--subresource=status', '--type=merge', '-p', '{"status":{"ok":true}}'),
      ).toMatch(/patched$/);
      expect(await ask('get', 'th', 't', '-o', 'jsonpath={.spec.x}{.status.ok}')).toBe('1true');
      expect(await ask('delete', 'crd', 'things.example.com')).toMatch(/deleted/);
      await expect(ask('get', 'things')).rejects.toThrow();
      expect(await ask('delete', 'cm', 'a')).toMatch(/deleted/);
      expect(server.requests.filter(({ status }) => status === undefined || status >= 500)).toEqual([]);
    });
  });
}
