/**
 * Kubernetes: objects by key over a store, in the words of its `storage.Interface`; the core of an informer, without transport.
 *
 * @module
 */
export { createInformerCore } from '../../kubernetes/create-informer-core.ts';
export type {
  AppliedEvent,
  AppliedPage,
  InformerCore,
  InformerCoreOptions,
  InformerEvent,
  InformerList,
} from '../../kubernetes/informer-core.ts';
export type { DeletedReason, IgnoredReason, InformerDelta } from '../../kubernetes/informer-delta.ts';
export type { MalformedObject } from '../../kubernetes/object-identity.ts';
export { type CompareVersions, compareVersions, type VersionOrder } from '../../kubernetes/resource-version.ts';
export { createResourceStore } from '../../resource-cache/create-resource-store.ts';
export type { ResourceEvent, ResourceEventHandler } from '../../resource-cache/event-subscription.ts';
export type { HierarchyPlace, HierarchyResult, OwnerCycle, VisitResource } from '../../resource-cache/hierarchy.ts';
export {
  type InferParents,
  type InferredParents,
  inferKubernetesParents,
  type NamedParent,
} from '../../resource-cache/inferred-parents.ts';
export type { NamespaceView } from '../../resource-cache/namespace-view.ts';
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
