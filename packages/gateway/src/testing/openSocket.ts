import type { AnyTRPCRouter } from '@trpc/server';
import type { RequestRecord } from '../calls/requestRecord.ts';
import type { createGateway } from '../gateway.ts';
import type { SocketAcceptor } from '../http/webSocket.ts';
import { inProcessRequest } from './inProcessRequest.ts';
import { testGateway } from './testGateway.ts';

export type Options = Partial<Parameters<typeof createGateway>[0]>;

export const upgradeRequest = (target = '/trpc', headers: Record<string, string> = {}) =>
  inProcessRequest('GET', target, { 'sec-websocket-version': '13', ...headers });

/** Opens a socket of a gateway in process, and records its frames, request records, errors and close codes. */
export async function openSocket(router: AnyTRPCRouter, options: Options = {}, target = '/trpc') {
  const frames: unknown[] = [];
  const records: RequestRecord[] = [];
  const errors: string[] = [];
  const closes: unknown[] = [];
  const reading: ('paused' | 'resumed')[] = [];
  const { callsInFlight, upgrade } = await testGateway(router, {
    onResponse: (record) => records.push(record),
    trpc: { onError: ({ error }) => void errors.push(error.message) },
    maskUnexpectedErrors: false,
    ...options,
  });
  const upgradeAgain = async (headers?: Record<string, string>) => upgrade(upgradeRequest(target, headers));
  const openAnother = async (headers?: Record<string, string>) => {
    const accept = (await upgradeAgain(headers)) as SocketAcceptor;
    return accept(peer);
  };
  const peer = {
    bufferedBytes: 0,
    send: (frame: string) => void frames.push(frame.startsWith('{') ? JSON.parse(frame) : frame),
    close: (...close: unknown[]) => void closes.push(close),
    terminate: () => void closes.push('terminated'),
    pause: () => void reading.push('paused'),
    resume: () => void reading.push('resumed'),
  };
  const handler = await openAnother();
  await quiet();
  records.length = 0;
  const send = async (...messages: object[]) => {
    for (const message of messages) handler.message(...bytesAndKind(message));
    await quiet();
  };
  return {
    callsInFlight,
    closes,
    errors,
    frames,
    handler,
    openAnother,
    peer,
    reading,
    records,
    send,
    upgradeAgain,
  };
}

/** Waits until nothing happens any more, unless a timer is set. */
export async function quiet(): Promise<void> {
  for (let count = 0; count < 40; count += 1) await new Promise(setImmediate);
}

export const bytesAndKind = (message: object) => [Buffer.from(JSON.stringify(message)), false] as const;

export const call = (id: number | null, method: string, path: string, more: object = {}) => ({
  id,
  method,
  params: { path, ...more },
});

export const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);
