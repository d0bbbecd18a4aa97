import { defineCollection, listRecords, type Store } from '@petstore/core';
import type { Policy } from 'trpc-gateway';
import type { AccessTokenClaims } from 'trpc-gateway/jwt';
import { z } from 'zod';
import { errors, Id, page, procedure } from './trpc.ts';

const Audit = z
  .object({
    id: Id,
    at: z.iso.datetime(),
    user: z.string(),
    requestId: z.string(),
    procedures: z.array(z.string()),
    status: z.int(),
  })
  .meta({ id: 'Audit' });

export const audits = defineCollection({ name: 'audits', schema: Audit, id: 'sequence' });

/**
 * Stores who tried to change what, and with which result, before the response is sent: no client learns of a change without
 * its record, except by JSON lines, whose response begins before its calls end. A middleware would record each call of those
 * too, but not the requests that are rejected before it.
 */
export const auditPolicy = (store: Store): Policy<AccessTokenClaims> => ({
  async complete({ identity, procedures, protocol, requestId }, { body, status }) {
    // A request without a valid token changes nothing, and anyone may send it.
    if (identity === undefined || !procedures.some(({ type }) => type === 'mutation')) return;
    await store.collection(audits).create({
      at: new Date().toISOString(),
      user: identity.sub,
      requestId,
      procedures: procedures.map(({ path }) => path),
      status: (protocol === 'mcp' && failedStatus(body)) || status,
    });
  },
});

const FailedCall = z.object({
  result: z.object({ isError: z.literal(true), content: z.tuple([z.object({ text: z.string() })]) }),
});

/** Returns the status of the error of a tool's call, whose response has the status 200 (docs/mcp.md, "Results"). */
function failedStatus(body: unknown): number | undefined {
  if (typeof body !== 'string') return undefined;
  const { data } = FailedCall.safeParse(JSON.parse(body));
  return data && z.object({ status: z.int() }).parse(JSON.parse(data.result.content[0].text)).status;
}

export const auditProcedures = {
  listAudits: procedure
    .meta({
      scopes: ['audits:read'],
      openapi: {
        method: 'GET',
        path: '/audits',
        summary: 'List who changed what, in ascending order of id',
        tags: ['audits'],
        pagination: { cursor: 'cursor' },
        errorResponses: errors.list,
      },
    })
    .input(z.object(page).prefault({}))
    .output(z.array(Audit))
    .query(({ ctx, input, signal }) => listRecords(ctx, audits, input, { signal })),
};
