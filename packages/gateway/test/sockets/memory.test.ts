import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGateway } from 'trpc-gateway';
import { initTRPC, tracked } from '@trpc/server';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { needs, serve } from '../servers.ts';
import { call } from './startSocketGateway.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const until = (check: () => void) => vi.waitFor(check, 15_000);

const kinds = {
  'an event': (event: object) => event,
  'a tracked event': (event: object) => tracked('1', event),
};

it.each(Object.entries(kinds))(
  'an idle subscription on a WebSocket keeps no event in memory: %s',
  async (_kind, wrap) => {
    needs('WebSockets');
    const events: WeakRef<object>[] = [];
    function create(): unknown {
      const event = { text: `event ${events.length}` };
      events.push(new WeakRef(event));
      return wrap(event);
    }
    const t = initTRPC.create({ isDev: false });
    const router = t.router({
      events: t.procedure.subscription(async function* () {
        while (events.length < 3) yield create();
        await new Promise(() => {});
      }),
    });
    const gateway = await createGateway({
      router,
      createContext: () => ({}),
      document: { title: 'Events', version: '1.0.0' },
    });
    const server = await serve(gateway);
    const socket = new WebSocket(`${server.origin.replace('http', 'ws')}/trpc`);
    onTestFinished(async () => {
      socket.terminate();
      await server.close({ deadlineMs: 0 });
    });
    let received = '';
    socket.on('message', (data: Buffer) => (received += data.toString()));
    socket.on('open', () => socket.send(JSON.stringify(call(1, 'subscription', 'events'))));
    await until(() => expect(received).toContain('event 2'));
    await until(() => {
      collectGarbage();
      expect(events.map((event) => event.deref())).toEqual([undefined, undefined, undefined]);
    });
  },
);
