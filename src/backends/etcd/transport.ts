import type { WireObject } from './wire.ts';

/** etcd's methods, by the path that its gateway has them at. */
export type Method =
  | 'auth/authenticate'
  | 'kv/compaction'
  | 'kv/range'
  | 'kv/txn'
  | 'lease/grant'
  | 'lease/keepalive'
  | 'lease/leases'
  | 'lease/revoke'
  | 'lease/timetolive'
  | 'maintenance/status'
  | 'watch';

/** Where one request goes, and until when. */
export interface Destination {
  /** `http://host:port`, or `https:`. */
  readonly endpoint: string;
  readonly token: string | undefined;
  /** Its end lets go of everything; whoever waits gets its reason. */
  readonly signal: AbortSignal;
}

/** Messages of a stream, pulled: what is not asked for stays with the member, or in a bounded buffer. */
export interface TransportStream {
  readonly messages: AsyncGenerator<WireObject, void, undefined>;
  /** One more request. Only where the transport is `duplex`; of a stream that has ended it does nothing. */
  send(request: WireObject): void;
}

/**
 * How requests get to a member: one member, one try. Which one, how often and for how long is the affair of `EtcdClient`.
 *
 * Requests and answers have the form that `wire.ts` tells, whatever lies on the wire. A transport throws `EtcdRefusal` for what
 * a member of etcd has said no to, `NotSent` for what has certainly reached nobody, `TooLarge` for an answer above its bound,
 * `Unreadable` for what etcd does not say, the reason of the signal; anything else is taken for a failure of the connection.
 */
export interface Transport {
  /** Whether a stream takes requests after its first one: for progress of a watch, and for renewals of many leases. */
  readonly duplex: boolean;
  call(method: Method, request: WireObject, to: Destination): Promise<WireObject>;
  stream(method: Method, request: WireObject, to: Destination): TransportStream;
  /** Lets go of its connections. What is under way was ended before. */
  close(): void;
}
