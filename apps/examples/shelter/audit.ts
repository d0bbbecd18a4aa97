import { defineCollection, listRecords, type Store } from '@petstore/core';
import type { Policy } from 'trpc-gateway';
import type { AccessTokenClaims } from 'trpc-gateway/jwt';
import { z } from 'zod';
import { Id } from './records.ts';
import { errors, page, procedure } from './trpc.ts';

const Audit = z
  .object({
    id: Id,
    at: z.iso.datetime(),
    user: z.string(),
    requestId: z.string(),
    protocol: z.string().meta({ description: '`mcp`: an agent.' }),
    tool: z.string().optional().meta({ description: 'What the agent called.' }),
    client: z.string().optional().meta({ description: 'What the client calls itself.' }),
    oauthClient: z.string().optional().meta({ description: 'The client that the token was issued to.' }),
    procedure: z.string(),
    outcome: z
      .string()
      .meta({ description: '`OK`, the code of the error, or `UNKNOWN` if the client did not wait.' }),
    reason: z.string().optional(),
    isReplay: z
      .boolean()
      .meta({ description: 'Whether it repeated an earlier change, so that nothing changed.' }),
  })
  .meta({ id: 'Audit' });

export const audits = defineCollection({ name: 'audits', schema: Audit, id: 'sequence' });

/**
 * Stores who tried to change what, through which client, and with which outcome, before the response is sent: no client learns
 * of a change without its record. A change whose client has left, or whose response another policy has replaced by an error,
 * has its record too. A middleware would not see the calls that are rejected before it.
 */
export const auditPolicy = (store: Store): Policy<AccessTokenClaims> => ({
  async settled({ identity, isReplay, outcomes, request, requestId, via }) {
    // A request without a valid token changes nothing, and anyone may send it.
    if (identity === undefined) return;
    const changes = outcomes.flatMap(({ code: outcome = 'UNKNOWN', procedure: called }) =>
      called?.type === 'mutation' ? [{ procedure: called.path, outcome }] : [],
    );
    if (changes.length === 0) return;
    const { client, oauthClient, protocol, tool } = via;
    const attempt = {
      at: new Date().toISOString(),
      user: identity.sub,
      requestId,
      protocol,
      tool,
      client: client && [client.name, client.version].join(' ').trim(),
      oauthClient,
      reason: request.header('x-reason'),
      isReplay,
    };
    await Promise.all(changes.map((change) => store.collection(audits).create({ ...attempt, ...change })));
  },
});

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
    .query((call) => listRecords(call, audits, call.input)),
};
