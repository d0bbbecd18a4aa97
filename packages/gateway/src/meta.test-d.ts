import type { OpenApiMeta } from 'trpc-to-openapi';
import { expectTypeOf, test } from 'vitest';
import type { GatewayMeta, RestMeta } from './procedures/meta.ts';

test('GatewayMeta accepts the metadata of trpc-to-openapi, and true or false', () => {
  expectTypeOf<OpenApiMeta<object>>().toExtend<GatewayMeta>();
  expectTypeOf<{ openapi: boolean }>().toExtend<GatewayMeta>();
});

test('RestMeta accepts all metadata of trpc-to-openapi', () => {
  type Vocabulary = NonNullable<OpenApiMeta<object>['openapi']>;
  expectTypeOf<Vocabulary>().toExtend<RestMeta>();
  expectTypeOf<Exclude<keyof Vocabulary, keyof RestMeta>>().toBeNever();
});
