import { shown } from '@petstore/testing/shown';
import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import type { GatewayOptions } from '../assembly/options.ts';
import type { RestMeta } from '../procedures/meta.ts';
import { t, testGateway } from './testGateway.ts';

/** Creates a gateway of one procedure, which returns its input. */
export function echoGateway(
  openapi: RestMeta,
  inputs: readonly z.ZodType[],
  options: Partial<GatewayOptions<AnyTRPCRouter, unknown>> = {},
) {
  const procedure = inputs
    .reduce(
      (base, input) => base.input(input as z.ZodObject) as unknown as typeof base,
      t.procedure.meta({ openapi }),
    )
    .output(z.unknown());
  const resolve = ({ input }: { readonly input: unknown }) => shown(input);
  const isSafe = openapi.method === 'GET';
  return testGateway(t.router({ echo: isSafe ? procedure.query(resolve) : procedure.mutation(resolve) }), {
    onResponse: () => {},
    ...options,
  });
}

/** Sends an input to such a gateway: a body that is no form as JSON. */
export async function sendInput(
  { fetch }: Awaited<ReturnType<typeof echoGateway>>,
  { method = 'POST' }: RestMeta,
  target: string,
  { body, headers }: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
) {
  const isForm = body instanceof FormData || body instanceof URLSearchParams;
  const response = await fetch(`http://localhost/v1${target}`, {
    method,
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    headers: { ...(body !== undefined && !isForm && { 'content-type': 'application/json' }), ...headers },
  });
  return { status: response.status, body: await response.json() };
}
