import type { Random } from '../../types/random.ts';
import { pick, pickFrom } from './pick.ts';

/** An object as an API server would send it. Made by the generator and changed by nobody else. */
export interface SampleObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: SampleMetadata;
  readonly [part: string]: unknown;
}

export interface SampleMetadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly creationTimestamp: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly managedFields: readonly unknown[];
}

/** What an object is apart from its metadata, and what a change of its wanted or its reported state looks like. */
interface SampleKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly create: (random: Random, app: string) => Readonly<Record<string, unknown>>;
  /** The parts of the object that are wanted otherwise now. */
  readonly changeSpec: (random: Random, object: SampleObject) => Readonly<Record<string, unknown>>;
  readonly changeStatus: (random: Random, time: string) => Readonly<Record<string, unknown>>;
}

export const NAMESPACES: readonly string[] = [
  'shop-prod',
  'shop-staging',
  'search-prod',
  'search-dev',
  'billing-prod',
  'billing-dev',
  'tracing',
  'default',
];

const APPS: readonly string[] = ['cart', 'checkout', 'catalogue', 'ledger', 'indexer', 'gateway', 'mailer', 'reports'];

function image(random: Random, app: string): string {
  return `registry.example/${app}:1.${pick(random, 40)}.${pick(random, 10)}`;
}

function workload(random: Random, app: string): Readonly<Record<string, unknown>> {
  const resources = { requests: { cpu: `${100 + 50 * pick(random, 8)}m`, memory: `${64 << pick(random, 4)}Mi` } };
  const container = { name: app, image: image(random, app), args: ['--listen=:8080', `--log-level=info`], resources };
  return {
    replicas: 1 + pick(random, 6),
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: { containers: [container], terminationGracePeriodSeconds: 30 } },
  };
}

function condition(random: Random, type: string, time: string): Readonly<Record<string, unknown>> {
  return { type, status: random() < 0.9 ? 'True' : 'False', lastTransitionTime: time, reason: 'Checked' };
}

function scale(random: Random, object: SampleObject): Readonly<Record<string, unknown>> {
  return { spec: { ...partOf(object, 'spec'), replicas: 1 + pick(random, 12), minReadySeconds: pick(random, 30) } };
}

function partOf(object: SampleObject, part: string): Readonly<Record<string, unknown>> {
  return object[part] as Readonly<Record<string, unknown>>;
}

function rollout(random: Random, time: string): Readonly<Record<string, unknown>> {
  const readyReplicas = pick(random, 12);
  return { readyReplicas, updatedReplicas: pick(random, 12), conditions: [condition(random, 'Available', time)] };
}

export const KINDS: readonly SampleKind[] = [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    create: (random, app) => ({ spec: workload(random, app) }),
    changeSpec: scale,
    changeStatus: rollout,
  },
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    create: (random, app) => ({ spec: { ...workload(random, app), serviceName: app, volumeClaimTemplates: [] } }),
    changeSpec: scale,
    changeStatus: rollout,
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    create: (random, app) => ({
      spec: { nodeName: `node-${pick(random, 20)}`, containers: [{ name: app, image: image(random, app) }] },
    }),
    changeSpec: (random, object) => ({
      spec: { ...partOf(object, 'spec'), activeDeadlineSeconds: 60 * (1 + pick(random, 60)) },
    }),
    changeStatus: (random, time) => ({
      phase: pickFrom(random, ['Pending', 'Running', 'Running', 'Running', 'Failed']),
      podIP: `10.${pick(random, 4)}.${pick(random, 256)}.${pick(random, 256)}`,
      conditions: [condition(random, 'Ready', time), condition(random, 'ContainersReady', time)],
    }),
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    create: (random, app) => ({
      data: { 'app.properties': `name=${app}\npool=${pick(random, 64)}\n`, motto: 'schön' },
    }),
    // A ConfigMap has no spec: what is wanted of it is its data.
    changeSpec: (random, object) => ({
      data: { ...partOf(object, 'data'), 'limits.yaml': `rps: ${pick(random, 5000)}\n` },
    }),
    changeStatus: () => ({}),
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    create: (random, app) => ({
      spec: { ingressClassName: pickFrom(random, ['public', 'internal']), rules: [{ host: `${app}.example` }] },
    }),
    changeSpec: (random, object) => ({
      spec: { ...partOf(object, 'spec'), ingressClassName: pickFrom(random, ['public', 'internal', 'canary']) },
    }),
    changeStatus: (random) => ({ loadBalancer: { ingress: [{ ip: `203.0.113.${pick(random, 256)}` }] } }),
  },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    create: (random, app) => ({
      spec: { schedule: `${pick(random, 60)} * * * *`, jobTemplate: workload(random, app) },
    }),
    changeSpec: (random, object) => ({
      spec: { ...partOf(object, 'spec'), schedule: `${pick(random, 60)} ${pick(random, 24)} * * *` },
    }),
    changeStatus: (random, time) => ({
      lastScheduleTime: time,
      active: Array.from({ length: pick(random, 3) }, () => ({})),
    }),
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    create: () => ({ rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }] }),
    changeSpec: (random) => {
      const verbs = ['get', 'list', 'watch', 'update', 'delete'].slice(0, 1 + pick(random, 5));
      return { rules: [{ apiGroups: [''], resources: ['pods'], verbs }] };
    },
    changeStatus: () => ({}),
  },
];

/** A new object of a random kind. `ordinal` makes its name unique; cluster-wide kinds have no namespace. */
export function createSample(random: Random, ordinal: number, time: string): SampleObject {
  const { apiVersion, kind, create } = pickFrom(random, KINDS);
  const app = pickFrom(random, APPS);
  // The square makes the first namespaces much larger than the last.
  const namespace = NAMESPACES[Math.floor(random() ** 2 * NAMESPACES.length)] ?? 'default';
  const metadata = {
    name: `${app}-${ordinal}`,
    namespace: kind === 'ClusterRole' ? '' : namespace,
    uid: createUid(random),
    resourceVersion: '',
    generation: 1,
    creationTimestamp: time,
    labels: { app, tier: pickFrom(random, ['front', 'back']) },
    annotations: {},
    managedFields: managedFields(time),
  };
  return { apiVersion, kind, metadata, ...create(random, app) };
}

/** The same object with another wanted state. */
export function withSpecChange(random: Random, object: SampleObject): SampleObject {
  const metadata = { ...object.metadata, generation: object.metadata.generation + 1 };
  return { ...object, metadata, ...kindOf(object).changeSpec(random, object) };
}

/** The same object with another reported state. */
export function withStatusChange(random: Random, object: SampleObject, time: string): SampleObject {
  const { changeStatus } = kindOf(object);
  const metadata = { ...object.metadata, managedFields: managedFields(time) };
  const status = { observedGeneration: object.metadata.generation, ...changeStatus(random, time) };
  return { ...object, metadata, status };
}

export function withLabelChange(random: Random, object: SampleObject): SampleObject {
  const labels = { ...object.metadata.labels, track: pickFrom(random, ['stable', 'canary', 'beta']) };
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** Only bookkeeping changes: what a handler must not be called for. */
export function withMetadataChange(_random: Random, object: SampleObject, time: string): SampleObject {
  return { ...object, metadata: { ...object.metadata, managedFields: managedFields(time) } };
}

export function createUid(random: Random): string {
  const hex = (digits: number): string => Array.from({ length: digits }, () => pick(random, 16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
}

function managedFields(time: string): readonly unknown[] {
  return [
    { manager: 'demo-controller', operation: 'Update', time, fieldsType: 'FieldsV1', fieldsV1: { 'f:status': {} } },
  ];
}

function kindOf(object: SampleObject): SampleKind {
  const found = KINDS.find(({ kind }) => kind === object.kind);
  if (found === undefined) throw new RangeError(`Cannot change an object: the kind ${object.kind} is not a sample`);
  return found;
}
