import {
  createTRPCClient,
  createWSClient,
  httpSubscriptionLink,
  safe,
  type TRPCLink,
  wsLink,
} from '@trpc/client';
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { newShelter, statusOf, stores } from './testing/newShelter.ts';
import type { ShelterRouter } from './router.ts';

describe.each(stores)('adoptions on the %s store', (store) => {
  let shelter: Awaited<ReturnType<typeof newShelter>>;
  beforeAll(async () => {
    shelter = await newShelter(store);
    await shelter.client.createCategory.mutate({ name: 'Dogs' });
  });
  afterAll(() => shelter.close());

  const newAnimal = () => shelter.client.createAnimal.mutate({ name: 'Rex', categoryId: 1 });
  async function adopt(adopter: string) {
    const { id: animalId } = await newAnimal();
    return shelter.client.adoptAnimal.mutate({ animalId, adopter });
  }
  /** Adopts and returns the event that clients receive. */
  async function adoptionEvent(adopter: string) {
    const adoption = await adopt(adopter);
    return { id: String(adoption.id), data: adoption };
  }

  test('POST /animals/{animalId}/adoption records the adoption and marks the animal as adopted', async () => {
    const { id: animalId } = await newAnimal();
    const { status, body } = await shelter.rest('POST', `/animals/${animalId}/adoption`, {
      adopter: 'Grace',
    });
    expect([status, body]).toEqual([
      201,
      { id: body.id, animalId, adopter: 'Grace', adoptedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    ]);
    expect(await shelter.client.getAnimal.query({ animalId })).toMatchObject({
      status: 'adopted',
      version: 2,
    });
    expect(await shelter.client.listAdoptions.query({ cursor: body.id - 1 })).toEqual([body]);
  });

  test('an animal that is not available is rejected with NOT_AVAILABLE and its status, over REST and tRPC', async () => {
    const { id: animalId } = await newAnimal();
    await shelter.client.updateAnimal.mutate({ animalId, status: 'reserved' });
    expect(await shelter.rest('POST', `/animals/${animalId}/adoption`, { adopter: 'Grace' })).toMatchObject({
      status: 409,
      body: {
        code: 'NOT_AVAILABLE',
        message: 'The animal is reserved or adopted.',
        status: 409,
        data: { status: 'reserved' },
      },
    });
    const [adoption, error] = await safe(shelter.client.adoptAnimal.mutate({ animalId, adopter: 'Grace' }));
    // Typed: `data` of another code has no `status`.
    const status = error?.data?.code === 'NOT_AVAILABLE' ? error.data.data.status : undefined;
    expect([adoption, status]).toEqual([undefined, 'reserved']);
    expect(await statusOf(shelter.client.adoptAnimal.mutate({ animalId: 1_000_000, adopter: 'Grace' }))).toBe(
      404,
    );
  });

  test('of 8 concurrent adoptions of an animal, one succeeds and 7 get NOT_AVAILABLE', async () => {
    const { id } = await newAnimal();
    const adopted = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        shelter.rest('POST', `/animals/${id}/adoption`, { adopter: `Visitor ${index}` }),
      ),
    );
    expect(adopted.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(adopted.filter(({ body }) => body.code === 'NOT_AVAILABLE')).toHaveLength(7);
  });

  test('a repeat with the same Idempotency-Key gets the first response, and records one adoption', async () => {
    const { id } = await newAnimal();
    const key = { 'idempotency-key': 'adopt-once' };
    const repeat = () => shelter.rest('POST', `/animals/${id}/adoption`, { adopter: 'Grace' }, key);
    const first = await repeat();
    expect(first).toMatchObject({ status: 201, isReplayed: false });
    expect(await repeat()).toEqual({ ...first, isReplayed: true });
    const adoptions = await shelter.client.listAdoptions.query({ cursor: first.body.id - 1 });
    expect(adoptions).toEqual([first.body]);
  });

  type Link = (connectionParams: Readonly<Record<string, string>>) => TRPCLink<ShelterRouter>;
  const links: Readonly<Record<string, Link>> = {
    'server-sent events': (connectionParams) =>
      httpSubscriptionLink({ url: `${shelter.origin}/trpc`, connectionParams, EventSource }),
    'a WebSocket': (connectionParams) => {
      const url = `${shelter.origin.replace('http', 'ws')}/trpc`;
      const client = createWSClient({ url, connectionParams });
      onTestFinished(() => client.close());
      return wsLink({ client });
    },
  };

  /** Watches adoptions with a tRPC client. */
  function watch(link: Link, lastEventId: string) {
    const received: unknown[] = [];
    const client = createTRPCClient<ShelterRouter>({ links: [link(shelter.headers)] });
    const subscription = client.watchAdoptions.subscribe(
      { lastEventId },
      { onData: (event) => received.push(event), onError: (error) => received.push(error) },
    );
    onTestFinished(() => subscription.unsubscribe());
    return { received, subscription };
  }

  test.for(Object.entries(links))(
    'a tRPC client that watches adoptions over %s receives each once, and resumes after the last id',
    async ([, link]) => {
      const before = await adoptionEvent('Ada');
      const missed = await adoptionEvent('Grace');
      const { received, subscription } = watch(link, before.id);
      await expect.poll(() => received).toEqual([missed]);
      const live = await adoptionEvent('Edsger');
      await expect.poll(() => received).toEqual([missed, live]);
      subscription.unsubscribe();
      const later = await adoptionEvent('Barbara');
      const resumed = watch(link, live.id);
      await expect.poll(() => resumed.received).toEqual([later]);
      const events = await Promise.all(Array.from({ length: 10 }, (_, at) => adoptionEvent(`Visitor ${at}`)));
      const inOrder = events.toSorted((one, other) => Number(one.id) - Number(other.id));
      await expect.poll(() => resumed.received).toEqual([later, ...inOrder]);
    },
  );

  test('GET /adoptions/events with Last-Event-ID streams the adoptions after it, also after a restart', async () => {
    const own = await newShelter(store);
    onTestFinished(() => own.close());
    await own.client.createCategory.mutate({ name: 'Dogs' });
    for (const adopter of ['Ada', 'Grace']) {
      const { id } = await own.client.createAnimal.mutate({ name: 'Rex', categoryId: 1 });
      await own.client.adoptAnimal.mutate({ animalId: id, adopter });
    }
    const [first, second] = await own.client.listAdoptions.query({});
    const origin = await own.restart();
    const end = new AbortController();
    const events = await fetch(`${origin}/v1/adoptions/events`, {
      headers: { ...own.headers, 'last-event-id': String(first?.id) },
      signal: end.signal,
    });
    expect(events.headers.get('content-type')).toMatch(/^text\/event-stream/);
    let text = '';
    for await (const chunk of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      // The stream begins with a comment.
      if (/^data:[^]*\n\n/m.test(text)) break;
    }
    end.abort();
    expect(text).toContain(`data: ${JSON.stringify(second)}\n`);
    expect(text).toContain(`id: ${second?.id}\n`);
    expect(text).not.toContain('Ada');
  });

  test('a lastEventId that is no id of an adoption gets 400', async () => {
    const response = await fetch(`${shelter.origin}/v1/adoptions/events`, {
      headers: { ...shelter.headers, 'last-event-id': 'yesterday' },
    });
    expect(response.status).toBe(400);
  });
});
