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
