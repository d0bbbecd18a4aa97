import { test } from 'vitest';
import { z } from 'zod';
import { defineCollection } from '../store/collection.ts';
import type { Context } from '../trpc.ts';
import { createRecord, updateRecord } from './records.ts';

const cats = defineCollection({
  name: 'cats',
  schema: z.object({ id: z.int(), name: z.string(), note: z.string().exactOptional() }),
  id: 'sequence',
});
declare const ctx: Context;
declare const known: { name: string; note?: string | undefined };
declare const unknown: { name: string; note?: string | undefined; shelterId?: number | undefined };

test('createRecord and updateRecord accept the fields of the schema', () => {
  void (() => createRecord({ ctx }, cats, known));
  void (() => createRecord({ ctx }, cats, { name: 'Tom' }));
  void (() => updateRecord({ ctx }, cats, 1, { note: null }));
  void (() => updateRecord({ ctx }, cats, 1, known));
});

test('createRecord and updateRecord do not compile with a field that the schema lacks', () => {
  // @ts-expect-error the store would drop shelterId
  void (() => createRecord({ ctx }, cats, unknown));
  // @ts-expect-error the store would drop shelterId
  void (() => updateRecord({ ctx }, cats, 1, unknown));
  // @ts-expect-error name is missing
  void (() => createRecord({ ctx }, cats, { note: 'x' }));
  // @ts-expect-error name cannot be removed
  void (() => updateRecord({ ctx }, cats, 1, { name: null }));
});
