/**
 * A socket of Node's for the test kit: an HTTP or HTTPS listener in front of a test API server.
 *
 * @module
 */
export { type FetchHandler, type ListenOptions, type Listener, listen } from './listen.ts';
