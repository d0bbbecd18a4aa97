import type { z } from 'zod';
import { isZod } from './isZod.ts';

/**
 * Lists the schemas in the definition of another one. Getters are not read: the default value is a getter that calls a
 * user-defined function.
 */
export function nestedSchemas(definition: z.core.$ZodTypeDef): readonly z.core.$ZodType[] {
  const def = definition as z.core.$ZodTypes['_zod']['def'];
  if (def.type === 'object') return [...Object.values(def.shape), def.catchall].filter(isZod);
  const properties: readonly PropertyDescriptor[] = Object.values(Object.getOwnPropertyDescriptors(def));
  return properties.flatMap(({ value }) => value as unknown).filter(isZod);
}
