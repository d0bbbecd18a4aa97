import type { z } from 'zod';
import { unwrap } from './convert.ts';
import type { Shape } from './inputShape.ts';

/** The properties that are files (`z.file()`), or arrays of files, by name. */
export function fileFields(shape: Shape): ReadonlyMap<string, { readonly repeated: boolean }> {
  const files = new Map<string, { readonly repeated: boolean }>();
  for (const [name, schema] of Object.entries(shape)) {
    const bare = unwrapped(schema);
    if (bare.type === 'file') files.set(name, { repeated: false });
    else if (bare.type === 'array' && unwrapped(bare.element).type === 'file')
      files.set(name, { repeated: true });
  }
  return files;
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodTypes['_zod']['def'] {
  const inner = unwrap(schema);
  return inner === undefined ? (schema as z.core.$ZodTypes)._zod.def : unwrapped(inner);
}
