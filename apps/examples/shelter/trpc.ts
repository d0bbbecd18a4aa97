import type { Context } from '@petstore/core';
import { clientMessage, type GatewayMeta } from '@petstore/gateway/meta';
import { initTRPC } from '@trpc/server';
import { z } from 'zod';

export const { router, procedure } = initTRPC
  .context<Context>()
  .meta<GatewayMeta>()
  .create({
    isDev: false,
    errorFormatter: ({ shape, error }) => ({ ...shape, message: clientMessage(error) }),
  });

/** The id of a record. */
export const Id = z.int().min(1);

/** A text that every store keeps unchanged: a lone surrogate has no UTF-8 form. */
export const Text = z
  .string()
  .min(1)
  .refine((value) => value.isWellFormed(), 'must be well-formed Unicode: it has a lone surrogate');

/** How often a record was changed, from 1. */
export const Version = z
  .int()
  .min(1)
  .meta({ description: 'How often the record was changed, from 1. The service counts.' });

/** The version that an update or a delete is based on. */
export const IfVersion = Version.optional().meta({
  description: 'Change the record only where it has this version; otherwise the response is 409.',
});

/** The input of a list, which has filters beside it. */
export const page = {
  limit: z.int().min(1).max(100).default(20).meta({ description: 'Maximum number of records returned.' }),
  cursor: z.int().optional().meta({ description: 'Only records whose id is greater.' }),
};

/** The headers of a response to a create: where the record is. */
export const locationBelow = (path: string) => ({
  Location: {
    description: 'Where the record is.',
    value: ({ id }: { readonly id: number }, { basePath }: { readonly basePath: string }) =>
      `${basePath}${path}/${id}`,
  },
});

const unavailable = { 503: 'The service, or its store, cannot serve now.' };

/** What the document says of the errors of each kind of operation. */
export const errors = {
  list: unavailable,
  get: { ...unavailable, 404: 'There is no record with this id.' },
  create: { ...unavailable, 409: 'The record conflicts with another.' },
  change: {
    ...unavailable,
    404: 'There is no record with this id.',
    409: 'The record has another version than `ifVersion`, or conflicts with another record.',
  },
};
