// @ts-check
// Objects of the shape of live Kubernetes ones, for machines without the real ones: what they have in common with those
// is what costs time (short keys, strings of 5 to 60 bytes, nesting of 5 to 8, a status, now and then managedFields).
import { pick, token } from './random.mjs';

/**
 * A Deployment of about `bytes` bytes of compact JSON: containers are added until it is large enough.
 *
 * @param {() => number} random
 * @param {number} bytes
 * @returns {Record<string, unknown>}
 */
export function generateObject(random, bytes) {
  const app = pick(random, APPS);
  /** @type {unknown[]} */
  const containers = [];
  const object = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(random, app, bytes > 2000 && random() < 0.3),
    spec: {
      replicas: Math.floor(random() * 12),
      selector: { matchLabels: { app } },
      template: { metadata: { labels: { app, tier: pick(random, TIERS) } }, spec: { containers } },
    },
    status: { observedGeneration: 4, replicas: 3, conditions: [condition(random, 'Available')] },
  };
  let size = JSON.stringify(object).length;
  while (size < bytes) {
    const container = generateContainer(random, bytes - size);
    size += JSON.stringify(container).length + 1;
    containers.push(container);
  }
  return object;
}

/**
 * @param {() => number} random
 * @param {string} app
 * @param {boolean} isManaged
 */
function metadata(random, app, isManaged) {
  const fields = {
    'f:spec': { 'f:replicas': {}, 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"a"}': {} } } } },
  };
  return {
    name: `${app}-${token(random, 5)}`,
    namespace: `ns-${Math.floor(random() * 50)}`,
    uid: `${token(random, 8)}-${token(random, 4)}-${token(random, 12)}`,
    resourceVersion: String(Math.floor(random() * 1e8)),
    creationTimestamp: '2026-03-01T10:00:00Z',
    labels: { app, 'app.kubernetes.io/instance': app, release: token(random, 6) },
    annotations: { 'deployment.kubernetes.io/revision': '4', 'example.com/owner': `team-${pick(random, TIERS)}` },
    ...(isManaged ? { managedFields: [{ manager: 'kubectl', operation: 'Update', fieldsV1: fields }] } : {}),
  };
}

/**
 * @param {() => number} random
 * @param {number} room bytes still missing
 */
function generateContainer(random, room) {
  const name = pick(random, APPS);
  const env = [];
  for (let left = Math.min(room, 1500) - 260; left > 0; left -= 60) {
    env.push({ name: token(random, 9).toUpperCase(), value: `${token(random, 12)} ${pick(random, TIERS)}` });
  }
  return {
    name: `${name}-${token(random, 4)}`,
    image: `registry.example.com/${name}:1.${Math.floor(random() * 30)}.${Math.floor(random() * 9)}`,
    imagePullPolicy: 'IfNotPresent',
    ports: [{ name: 'http', containerPort: 8000 + Math.floor(random() * 999), protocol: 'TCP' }],
    ...(env.length > 0 ? { env } : {}),
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '512Mi' } },
  };
}

/**
 * @param {() => number} random
 * @param {string} type
 */
function condition(random, type) {
  const lastUpdateTime = `2026-03-01T10:0${Math.floor(random() * 10)}:00Z`;
  return {
    type,
    status: 'True',
    reason: 'MinimumReplicasAvailable',
    lastUpdateTime,
    message: 'Has enough "ready" pods.',
  };
}

const APPS = ['frontend', 'billing', 'search', 'ledger', 'gateway', 'mailer', 'reports', 'auth', 'catalog', 'metrics'];
const TIERS = ['web', 'backend', 'data', 'edge'];
