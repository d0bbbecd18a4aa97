import type { OpenApiMeta } from 'trpc-to-openapi';
import { expectTypeOf, test } from 'vitest';
import type { RestMeta } from './procedures/meta.ts';

test('RestMeta accepts all metadata of trpc-to-openapi', () => {
  type Vocabulary = NonNullable<OpenApiMeta<object>['openapi']>;
  expectTypeOf<Vocabulary>().toExtend<RestMeta>();
  expectTypeOf<Exclude<keyof Vocabulary, keyof RestMeta>>().toBeNever();
});
