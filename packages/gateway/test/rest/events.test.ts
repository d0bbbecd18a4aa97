import { declareErrors, type GatewayMeta, type ResponseControls } from 'trpc-gateway/procedures';
import { initTRPC, tracked } from '@trpc/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { startShape } from '../startShape.ts';

const t = initTRPC.context<{ response: ResponseControls }>().meta<GatewayMeta>().create();

const feedErrors = declareErrors({
  FEED_LOCKED: { status: 409, data: z.object({ by: z.string() }) },
});
const Tick = z.object({ count: z.int() }).meta({ id: 'Tick' });

const router = t.router({
  ticks: t.procedure
    .meta({ openapi: { method: 'GET', path: '/ticks', event: Tick, summary: 'Ticks' } })
    .errors(feedErrors)
    .input(z.object({ fails: z.boolean().default(false), lastEventId: z.string().optional() }))
    .subscription(async function* ({ input }) {
      yield tracked('1', { count: 1 });
      if (input.fails) throw feedErrors.FEED_LOCKED({ data: { by: 'Ada' } });
    }),
});

it('the events of a subscription match the itemSchema of the OpenAPI 3.2 document (OAI #396)', async () => {
  const { document, rest } = await startShape(router, {
    document: { title: 'Feeds', version: '1.0.0', openapi: '3.2' },
  });
  const content = document.paths['/ticks']?.['get']?.responses['200']?.content?.['text/event-stream'];
  expect(content).not.toHaveProperty('schema');
  const { itemSchema } = content as unknown as { itemSchema: object };
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'document', ...document });
  const withIds = JSON.parse(JSON.stringify(itemSchema).replaceAll('"#/', '"document#/')) as {
    anyOf: { properties: { event: { const: string }; data: { contentSchema?: object } } }[];
  };
  const fitsEvent = ajv.compile(withIds);
  const fitsData = (name: string, data: unknown) => {
    const schema = withIds.anyOf.find(({ properties }) => properties.event.const === name);
    return ajv.validate(schema?.properties.data.contentSchema ?? {}, data);
  };
  for (const query of ['', '?fails=true']) {
    const text = await (await rest(`/ticks${query}`)).text();
    const events = text
      .trimEnd()
      .split('\n\n')
      .map(
        (lines) =>
          Object.fromEntries(lines.split('\n').map((line) => line.split(/: ?(.*)/))) as {
            event?: string;
            data: string;
          },
      );
    expect(events).toHaveLength(2);
    for (const event of events) {
      const { data, event: name = 'message' } = event;
      expect([event, fitsEvent(event)]).toEqual([event, true]);
      expect([data, data === '' || fitsData(name, JSON.parse(data))]).toEqual([data, true]);
    }
  }
  expect(fitsEvent({ event: 'other', data: '1' })).toBe(false);
  expect(fitsData('message', { count: 'one' })).toBe(false);
});
