import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { everyForm } from '@petstore/testing/forms';
import { adapterOfRun } from '../adapters.ts';
import { needs } from '../servers.ts';
import { serveGateway } from '../trpc/gatewayServer.ts';
import { serveOfficial } from '../trpc/officialServer.ts';
import { startWith } from '../trpc/start.ts';
import { closePayload, frame } from './frame.ts';
import { probe } from './probe.ts';

/** A frame that violates RFC 6455, and the close code that answers it. */
interface MalformedFrame {
  readonly name: string;
  readonly bytes: Buffer;
  /** Close code of RFC 6455 §7.4.1, sent by the package ws: in tRPC's adapter and in the gateway on node:http. */
  readonly code: number;
  /**
   * Close code that clients of uWebSockets.js 20 see. After a protocol violation it ends the connection without a close
   * frame (§7.1.7 says SHOULD): 1006. It answers a malformed close frame with an empty one: 1005.
   */
  readonly uws: number;
}

const violation = (name: string, bytes: Buffer, code = 1002): MalformedFrame => ({
  name,
  bytes,
  code,
  uws: 1006,
});
const badClose = (name: string, payload: string | Uint8Array, code = 1002): MalformedFrame => ({
  name,
  bytes: frame(payload, { opcode: 8 }),
  code,
  uws: 1005,
});

/** One violation for each rule of RFC 6455 §5, except masking, which `adapterDifferences` covers. */
const malformedFrames: readonly MalformedFrame[] = [
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode) =>
    violation(`the reserved opcode ${opcode}`, frame('x', { opcode })),
  ),
  ...[1, 2, 3, 4, 5, 6, 7].map((rsv) => violation(`the reserved bits ${rsv}`, frame('{}', { rsv }))),
  violation('a fragmented ping', frame('', { opcode: 9, fin: false })),
  violation('a fragmented close', frame('', { opcode: 8, fin: false })),
  violation('a ping of 126 bytes', frame('x'.repeat(126), { opcode: 9 })),
  violation('a close of 126 bytes', frame(closePayload(1000, 'x'.repeat(124)), { opcode: 8 })),
  violation('a continuation frame without a first frame', frame('x', { opcode: 0 })),
  violation('a message inside a fragmented message', Buffer.concat([frame('{', { fin: false }), frame('}')])),
  badClose('a close frame of one byte', 'x'),
  ...[0, 999, 1004, 1005, 1006, 1015, 2999, 65_535].map((code) =>
    badClose(`a close with the code ${code}`, closePayload(code)),
  ),
  badClose('a close whose reason is not UTF-8', Buffer.from([0x03, 0xe8, 0xff]), 1007),
  violation('text that is not UTF-8', frame(new Uint8Array([0xc3, 0x28])), 1007),
  violation(
    'text that is not UTF-8 in its second fragment',
    Buffer.concat([frame('{', { fin: false }), frame(new Uint8Array([0xff]), { opcode: 0 })]),
    1007,
  ),
  violation('a message of 8 MiB', frame('x'.repeat(8_388_608)), 1009),
  violation('a frame that announces 2^40 bytes', frame('x', { length: 2n ** 40n }), 1009),
  violation('a frame length with its highest bit set', frame('x', { length: 2n ** 63n }), 1009),
  violation(
    'fragments that exceed the message limit together',
    Buffer.concat([
      frame('x'.repeat(900_000), { fin: false }),
      ...Array.from({ length: 8 }, () => frame('x'.repeat(900_000), { opcode: 0, fin: false })),
      frame('x', { opcode: 0 }),
    ]),
    1009,
  ),
];

// tRPC's own adapter verifies the table.
describe.each([
  ['the gateway', serveGateway] as const,
  ...(everyForm ? [['tRPC’s adapter', serveOfficial] as const] : []),
])('%s', (subject, serve) => {
  it('each malformed frame closes its WebSocket with its code, and others are served', async () => {
    needs('a port');
    const { calls, endpoints, server } = await startWith(serve)();
    const isUws = subject === 'the gateway' && adapterOfRun() === 'uws';
    const outcomes = await Promise.all(
      malformedFrames.map(async ({ name, bytes }) => {
        const { socket, closed } = await probe(server.port);
        onTestFinished(() => void socket.destroy());
        socket.write(bytes);
        return [name, await Promise.race([closed, sleep(20_000, 'still open', { ref: false })])];
      }),
    );
    expect(outcomes).toEqual(malformedFrames.map(({ name, code, uws }) => [name, isUws ? uws : code]));
    expect(calls.total).toBe(0);
    const response = await endpoints.http.fetch(`${endpoints.http.url}/hello`);
    expect(await response.text()).toContain('Hello, world!');
  });
});
