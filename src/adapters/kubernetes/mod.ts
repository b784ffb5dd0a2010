/**
 * Kubernetes: objects by key over a store, in the words of its `storage.Interface`; informers, and their core without transport.
 *
 * @module
 */
export type { BearerToken, TokenProvider, TokenRequest } from '../../kubernetes/bearer-tokens.ts';
export { createFetchTransport, type FetchTransportOptions } from '../../kubernetes/create-fetch-transport.ts';
export { createInformer } from '../../kubernetes/create-informer.ts';
export { createInformerCore } from '../../kubernetes/create-informer-core.ts';
export type { KubernetesFetch } from '../../kubernetes/fetch-transport.ts';
export type {
  AppliedEvent,
  AppliedPage,
  InformerCore,
  InformerCoreOptions,
  InformerEvent,
  InformerList,
} from '../../kubernetes/informer-core.ts';
export { ApiStatusError, TransportError, type TransportFailure } from '../../kubernetes/errors.ts';
export type { DeletedReason, IgnoredReason, InformerDelta } from '../../kubernetes/informer-delta.ts';
export type {
  DeltaContext,
  DeltaHandler,
  Informer,
  InformerConnection,
  InformerErrorContext,
  InformerListing,
  InformerOptions,
  InformerPhase,
  InformerState,
  InformerStats,
} from '../../kubernetes/informer-types.ts';
export type { MalformedObject } from '../../kubernetes/object-identity.ts';
export { type CompareVersions, compareVersions, type VersionOrder } from '../../kubernetes/resource-version.ts';
export type {
  KubernetesResource,
  KubernetesTransport,
  ListPage,
  ListPageOptions,
  ListPageRequest,
  Selectors,
  WatchLine,
  WatchRequest,
  WatchStream,
} from '../../kubernetes/transport.ts';
export {
  type ApiResource,
  type Discover,
  type DiscoveredResources,
  discoverWith,
} from '../../resource-cache/api-resource.ts';
export { createResourceCache, type ResourceCacheOptions } from '../../resource-cache/create-resource-cache.ts';
export { createResourceStore } from '../../resource-cache/create-resource-store.ts';
export type { DiscoveryStatus } from '../../resource-cache/discovery-loop.ts';
export type { ResourceEvent, ResourceEventHandler } from '../../resource-cache/event-subscription.ts';
export type { HierarchyPlace, HierarchyResult, OwnerCycle, VisitResource } from '../../resource-cache/hierarchy.ts';
export {
  type InferParents,
  type InferredParents,
  inferKubernetesParents,
  type NamedParent,
} from '../../resource-cache/inferred-parents.ts';
export type { KindStatus } from '../../resource-cache/kind-sync.ts';
export type { ReadPath } from '../../resource-cache/limit-reads.ts';
export type { NamespaceView } from '../../resource-cache/namespace-view.ts';
export type { ResourceCache, ResourceCacheStatus } from '../../resource-cache/resource-cache.ts';
export type { OwnerReference, Populate, Populated, Resource } from '../../resource-cache/resource.ts';
export type { ReplaceOptions, ReplaceResult, ResourceFeed } from '../../resource-cache/resource-feed.ts';
export { type GroupKind, type ResourceKey, resourceKeyText } from '../../resource-cache/resource-key.ts';
export type {
  ManagedObjects,
  ResourceSelector,
  ResourceStore,
  ResourceStoreOptions,
  ResourceStoreStats,
  WalkOptions,
} from '../../resource-cache/resource-store.ts';
export type { IndexFunction } from '../../resource-cache/resource-tables.ts';
export type {
  HandlerOptions,
  HandlerStats,
  ResourceUpdate,
  ResourceUpdateHandler,
} from '../../resource-cache/subscription.ts';
export { createStorage } from '../../storage/create-storage.ts';
export {
  BadRequestError,
  ExpiredError,
  KeyExistsError,
  ObjectNotFoundError,
  PreconditionError,
  ResourceVersionTooLargeError,
  type Status,
  type StatusReason,
  StorageError,
  TooManyRequestsError,
  UpdateConflictError,
} from '../../storage/errors.ts';
export type {
  Bookmark,
  CreateOptions,
  DeleteObjectOptions,
  GetOptions,
  GuaranteedUpdateOptions,
  KubernetesObject,
  ListOptions,
  ObjectList,
  ObjectMeta,
  Preconditions,
  ResourceVersionMatch,
  Storage,
  StorageOptions,
  StorageStats,
  StorageWatch,
  StorageWatchEvent,
  StorageWatchOptions,
} from '../../storage/types.ts';
export {
  type ClientNodeTransportOptions,
  createClientNodeTransport,
  type KubeConfigLike,
} from './client-node-transport.ts';
export { type InClusterTransportOptions, openInClusterTransport } from './in-cluster-transport.ts';
