import type { generateOpenApiDocument } from 'trpc-to-openapi';
import { expectTypeOf, test } from 'vitest';
import type { TrpcToOpenApiDocumentInfo } from './index.ts';

test('trpcToOpenApiDocument takes the options of generateOpenApiDocument', () => {
  type Options = Parameters<typeof generateOpenApiDocument>[1];
  expectTypeOf<keyof TrpcToOpenApiDocumentInfo>().toEqualTypeOf<keyof Options>();
  expectTypeOf<Omit<Options, 'openApiVersion' | 'defs'>>().toExtend<
    Omit<TrpcToOpenApiDocumentInfo, 'openApiVersion' | 'defs'>
  >();
});
