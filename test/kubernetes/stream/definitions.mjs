// @ts-check
// The kinds of a stream on a real server: those that it has, as its discovery names them, and CustomResourceDefinitions for the others.
import { setTimeout as sleep } from 'node:timers/promises';
import { kindText, pathOf } from './kinds.mjs';

/** @typedef {import('./kinds.mjs').StreamKind} StreamKind */
/** @typedef {import('./feed.mjs').Call} Call */

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SERVED_MS_MAX = 60_000;
const POLL_MS = 50;

/**
 * Those that the server has in the end, and why others are not there.
 *
 * @param {Call} call
 * @param {ReadonlyMap<string, StreamKind>} wanted
 * @returns {Promise<{ kinds: Map<string, StreamKind>, refused: string[] }>}
 */
export async function provideKinds(call, wanted) {
  const own = await discoverKinds(call);
  /** @type {Map<string, StreamKind>} */
  const kinds = new Map();
  /** @type {string[]} */
  const refused = [];
  for (const [text, kind] of wanted) {
    const found = own.get(text);
    if (found !== undefined) {
      kinds.set(text, found);
      continue;
    }
    const { status, body } = await call('POST', DEFINITIONS, definitionOf(kind));
    if (status !== 201) {
      refused.push(`the kind ${text}: ${body.message}`);
      continue;
    }
    kinds.set(text, kind);
  }
  for (const kind of kinds.values()) await served(call, kind);
  return { kinds, refused };
}

/** @param {Call} call */
async function discoverKinds(call) {
  const groups = (await call('GET', '/apis')).body.groups ?? [];
  const places = [{ group: '', versions: ['v1'] }];
  for (const { name, versions } of groups) {
    places.push({ group: name, versions: versions.map((/** @type {{ version: string }} */ one) => one.version) });
  }
  /** @type {Map<string, StreamKind>} */
  const found = new Map();
  for (const { group, versions } of places) {
    for (const version of versions) {
      const { body } = await call('GET', group === '' ? `/api/${version}` : `/apis/${group}/${version}`);
      const resources = body.resources ?? [];
      for (const { name, kind, namespaced, verbs } of resources) {
        if (name.includes('/') || !verbs.includes('watch')) continue;
        const text = kindText({ group, kind });
        const status = resources.some((/** @type {{ name: string }} */ one) => one.name === `${name}/status`);
        const known = found.get(text);
        found.set(text, {
          group,
          kind,
          plural: name,
          namespaced,
          status,
          versions: [...(known?.versions ?? []), version],
        });
      }
    }
  }
  return found;
}

/** @param {StreamKind} kind */
function definitionOf({ group, kind, plural, versions, status }) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  // Groups of Kubernetes' own are guarded.
  const annotations = group.endsWith('.k8s.io') ? { 'api-approved.kubernetes.io': 'unapproved, for a test' } : {};
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema,
        ...(status ? { subresources: { status: {} } } : {}),
      })),
    },
  };
}

/**
 * A definition is served some time after it was made.
 *
 * @param {Call} call
 * @param {StreamKind} kind
 */
async function served(call, kind) {
  const until = performance.now() + SERVED_MS_MAX;
  for (;;) {
    const { status } = await call('GET', `${pathOf(kind, {})}?limit=1`);
    if (status === 200) return;
    if (performance.now() > until) throw new Error(`Cannot use ${kind.kind}: it answers ${status}`);
    await sleep(POLL_MS);
  }
}
