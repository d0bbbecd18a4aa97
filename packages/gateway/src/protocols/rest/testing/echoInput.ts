import type { AnyTRPCRouter } from '@trpc/server';
import { z } from 'zod';
import type { GatewayOptions } from '../../../assembly/options.ts';
import type { RestMeta } from '../../../procedures/meta.ts';
import { t, testGateway } from '../../../testing/testGateway.ts';

/** Returns a value as JSON, with the types that JSON lacks, and files, by name. */
function describeValue(value: unknown): unknown {
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (value instanceof File) return value.name;
  if (typeof value === 'bigint' || value === undefined) return `${typeof value}(${value})`;
  if (Array.isArray(value)) return value.map(describeValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, describeValue(each)]));
}

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
  const resolve = ({ input }: { readonly input: unknown }) => describeValue(input);
  const isSafe = openapi.method === 'GET';
  return testGateway(t.router({ echo: isSafe ? procedure.query(resolve) : procedure.mutation(resolve) }), {
    onResponse: () => {},
    ...options,
  });
}

/** Sends an input to such a gateway: a body that is an object as JSON, and a text as a form. */
export async function sendInput(
  { fetch }: Awaited<ReturnType<typeof echoGateway>>,
  { method = 'POST' }: RestMeta,
  target: string,
  { body, headers }: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
) {
  const isForm = typeof body === 'string';
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  const isEncoded = isForm || body instanceof FormData || body === undefined;
  const response = await fetch(`http://localhost/v1${target}`, {
    method,
    body: isEncoded ? (body ?? null) : JSON.stringify(body),
    headers: {
      ...(body !== undefined && !(body instanceof FormData) && { 'content-type': type }),
      ...headers,
    },
  });
  return { status: response.status, body: await response.json() };
}
