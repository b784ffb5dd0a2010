/**
 * Kubernetes: objects by key over a store, in the words of its `storage.Interface`.
 *
 * @module
 */
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
