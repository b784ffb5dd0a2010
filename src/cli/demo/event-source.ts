import type { Clock } from '../../types/clock.ts';
import type { CliHost } from '../host.ts';
import { splitJson } from '../json-splitter.ts';
import { createScanner } from '../json-text.ts';
import { unpack } from '../unpack.ts';
import { SampleStream, type SampleStreamOptions } from './sample-stream.ts';
import { parseStreamEvent, type StreamEvent } from './stream-event.ts';
import type { TrueObject } from './true-state.ts';

/** Where the events of a demo come from. */
export interface EventSource {
  /** What messages call it: `Cannot <action>: ...`. */
  readonly action: string;
  readonly events: AsyncIterable<StreamEvent>;
  /** A silence in it means something. */
  readonly isLive: boolean;
  /** What the source itself says is alive after the last event, if it can tell. */
  readonly truth?: () => ReadonlyMap<string, TrueObject>;
  /** Ends a read that waits. */
  close(): void;
}

/** Bytes handed over in one go; timers and I/O get a turn in between. */
const CHUNK_BYTES = 65_536;

/** A recorded or live stream: a file, or standard input for `-`. */
export function openStream(host: CliHost, path: string): EventSource {
  const input = host.openInput(path);
  const action = `read the stream from ${input.name}`;
  const events = readEvents(unpack(input.chunks, action), action);
  return { action, events, isLive: input.isLive, close: () => input.close() };
}

/** The built-in stream. It goes the whole way through bytes and parser, as any other. */
export function createSampleEvents(options: SampleStreamOptions, clock: Clock): EventSource {
  const stream = new SampleStream(options);
  const action = 'read the built-in stream';
  const events = readEvents(chunksOf(stream.lines(), clock), action);
  return { action, events, isLive: false, truth: () => stream.truth, close: () => {} };
}

async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
  action: string,
): AsyncGenerator<StreamEvent, undefined, undefined> {
  const scanner = createScanner();
  for await (const text of splitJson(chunks, { action })) yield parseStreamEvent(text, action, scanner);
  return undefined;
}

async function* chunksOf(lines: Iterable<string>, clock: Clock): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < CHUNK_BYTES) continue;
    yield encoder.encode(text);
    text = '';
    await new Promise<void>((resolve) => {
      clock.after(0, resolve);
    });
  }
  yield encoder.encode(text);
}
