import { createTRPCClient, isTRPCClientError, type TRPCLink } from '@trpc/client';
import { describe, expect, it } from 'vitest';
import { callLinks, clientOf, superjsonLinks, type Endpoints } from '../clients.ts';
import type { Start } from '../start.ts';
import { richValue, superjsonRouter, type SuperjsonRouter, type RpcRouter } from '../rpcRouter.ts';

const links = Object.entries<(endpoints: Endpoints) => TRPCLink<RpcRouter>>(callLinks);
const transformingLinks = Object.entries<(endpoints: Endpoints) => TRPCLink<SuperjsonRouter>>(superjsonLinks);

/** Queries and mutations over each link. */
export function calls(start: Start): void {
  describe.each(links)('queries and mutations over %s', (_name, link) => {
    const client = async () => {
      const running = await start();
      return { ...running, client: clientOf(link(running.endpoints)) };
    };

    it('a query and a mutation resolve to their outputs, and an error has the fields of errorFormatter', async () => {
      const { client: trpc, errors } = await client();
      expect(await trpc.hello.query()).toBe('Hello, world!');
      expect(await trpc.write.mutate({ name: 'Ünïcødé 🐶' })).toEqual({ id: 1, name: 'Ünïcødé 🐶' });
      const error = await trpc.throwError.query('CONFLICT').catch((cause: unknown) => cause);
      if (!isTRPCClientError<RpcRouter>(error)) throw error;
      expect(error.message).toBe('This is CONFLICT');
      expect(error.data).toMatchObject({ code: 'CONFLICT', httpStatus: 409, formatted: 'by the formatter' });
      expect(errors).toEqual(['throwError CONFLICT']);
    });

    it('concurrent calls each get their own result or error', async () => {
      const { client: trpc } = await client();
      const responses = await Promise.allSettled([
        trpc.add.query({ a: 1, b: 1 }),
        trpc.throwError.query('CONFLICT'),
        trpc.slow.query({ ms: 20 }),
        trpc.add.query({ a: 2, b: 2 }),
        trpc.hello.query({ name: 'five' }),
      ]);
      expect(
        responses.map((response) => (response.status === 'fulfilled' ? response.value : 'failed')),
      ).toEqual([2, 'failed', 'done', 4, 'Hello, five!']);
    });
  });

  describe.each(transformingLinks)('superjson over %s', (_name, link) => {
    const client = async () => {
      const { endpoints } = await start({ router: superjsonRouter });
      return createTRPCClient<SuperjsonRouter>({ links: [link(endpoints)] });
    };

    it('superjson inputs and outputs keep dates, bigints, sets, maps, undefined and regular expressions', async () => {
      const trpc = await client();
      expect(await trpc.rich.query()).toEqual(richValue());
      expect(await trpc.echo.query(richValue())).toEqual({ input: richValue() });
      expect(await trpc.keep.mutate(richValue())).toEqual({ input: richValue() });
    });
  });
}
