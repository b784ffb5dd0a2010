import type { ApiKind } from '../server/kubernetes/kinds.ts';

const cluster = { namespaced: false } as const;
const apps = { group: 'apps', version: 'v1', status: true } as const;

/** Kinds that Kubernetes has itself, as it serves them, for a server to begin with. */
export const testKinds: readonly ApiKind[] = Object.freeze([
  { ...cluster, version: 'v1', kind: 'Namespace', plural: 'namespaces', shortNames: ['ns'], status: true },
  { ...cluster, version: 'v1', kind: 'Node', plural: 'nodes', shortNames: ['no'], status: true },
  {
    version: 'v1',
    kind: 'Pod',
    plural: 'pods',
    shortNames: ['po'],
    categories: ['all'],
    status: true,
    fieldSelectors: ['spec.nodeName', 'spec.restartPolicy', 'spec.serviceAccountName', 'status.phase', 'status.podIP'],
  },
  { version: 'v1', kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'] },
  { version: 'v1', kind: 'Secret', plural: 'secrets', fieldSelectors: ['type'] },
  { version: 'v1', kind: 'Service', plural: 'services', shortNames: ['svc'], categories: ['all'], status: true },
  { version: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', shortNames: ['sa'] },
  {
    version: 'v1',
    kind: 'Event',
    plural: 'events',
    shortNames: ['ev'],
    fieldSelectors: [
      'involvedObject.kind',
      'involvedObject.name',
      'involvedObject.namespace',
      'involvedObject.uid',
      'reason',
      'type',
    ],
  },
  { ...apps, kind: 'Deployment', plural: 'deployments', shortNames: ['deploy'], categories: ['all'] },
  { ...apps, kind: 'ReplicaSet', plural: 'replicasets', shortNames: ['rs'], categories: ['all'] },
  { ...apps, kind: 'StatefulSet', plural: 'statefulsets', shortNames: ['sts'], categories: ['all'] },
  { ...apps, kind: 'DaemonSet', plural: 'daemonsets', shortNames: ['ds'], categories: ['all'] },
  { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', categories: ['all'], status: true },
  { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases' },
  {
    ...cluster,
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    shortNames: ['crd', 'crds'],
    categories: ['api-extensions'],
    status: true,
  },
]);
