import type { Context as StoreContext } from '@petstore/core';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';
import type { ShelterEvents } from './events.ts';
import type { PhotoFolder } from './photoFolder.ts';
import { Version } from './records.ts';

export interface Context extends StoreContext {
  readonly events: ShelterEvents;
  readonly photos: PhotoFolder;
}

export const { router, procedure } = initTRPC
  .context<Context>()
  .meta<GatewayMeta>()
  // Proxies close connections on which nothing is sent.
  .create({ sse: { ping: { enabled: true, intervalMs: 15_000 } } });

/** Procedures for the staff, who change animals and categories. */
export const staff = procedure.meta({ scopes: ['animals:write'] });

/** The version that an update or a delete is based on. */
export const IfVersion = Version.optional().meta({
  description: 'Change the record only if it has this version; otherwise the response is 409.',
});

/** The pagination fields of the input of a list. */
export const page = {
  limit: z.int().min(1).max(100).default(20).meta({ description: 'Maximum number of records returned.' }),
  cursor: z.int().optional().meta({ description: 'Only records with a greater id.' }),
};

/** The id of the last event that a client has received. It continues after it. `EventSource` and the clients of tRPC send it. */
export const lastEventId = z
  .string()
  .optional()
  .meta({ description: 'Continues after the event with this id.' });

/** Returns the response headers of a create: the location of the record. */
export const locationBelow = (path: string) => ({
  Location: {
    description: 'URL of the record.',
    value: ({ id }: { readonly id: number }, { basePath }: { readonly basePath: string }) =>
      `${basePath}${path}/${id}`,
  },
});

const unavailable = { 503: 'The service or its store is unavailable.' };

/** The documented errors of each kind of operation. */
export const errors = {
  list: unavailable,
  get: { ...unavailable, 404: 'There is no record with this id.' },
  create: { ...unavailable, 409: 'The record conflicts with another.' },
  change: {
    ...unavailable,
    404: 'There is no record with this id.',
    409: 'The version of the record is not `ifVersion`, or the record conflicts with another.',
  },
};
