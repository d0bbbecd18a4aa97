// Reads schemas of any zod, for tools such as trpc-gateway-typegen. `definitionOf` narrows by `type`; parts of lazy schemas, classes and
// preprocessed schemas are where the definition does not say it.
export {
  classOf,
  definitionOf,
  internalsOf,
  isPreprocess,
  isZod,
  lazyTarget,
  metadataOf,
  type ZodDefinition,
  type ZodInternals,
  type ZodSchema,
} from './schemas/zodSchema.ts';
