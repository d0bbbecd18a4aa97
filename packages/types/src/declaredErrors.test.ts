import { createGateway } from 'trpc-gateway';
import { compile, everyCompiler } from '@petstore/testing/compile';
import openapiTypeScript, { astToString } from 'openapi-typescript';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { shopRouter } from './testing/shopRouter.ts';

const shop = fileURLToPath(new URL('testing/shopRouter.ts', import.meta.url));

const restClient = `import type { paths } from './openapi.ts';
type Responses = paths['/orders']['post']['responses'];
declare const conflict: Responses[409]['content']['application/json'];
declare const locked: Responses[423]['content']['application/json'];
`;

const rightRest = `
if (conflict.code === 'OUT_OF_STOCK') { const left: number = conflict.data.left; const status: 409 = conflict.status; }
else if (conflict.code === 'ALREADY_ORDERED') { const id: string = conflict.data.orderId; }
else { const code: 'CONFLICT' = conflict.code; }
const closed: 'SHOP_CLOSED' = locked.code;
`;
const wrongRest = [
  "if (conflict.code === 'SOLD_OUT') {}",
  "if (conflict.code === 'SHOP_CLOSED') {}",
  "if (conflict.code === 'OUT_OF_STOCK') conflict.data.orderId;",
  "if (conflict.code === 'CONFLICT') conflict.data;",
  'locked.data;',
];

const throwing = `import { declareErrors } from 'trpc-gateway/procedures';
import { shopErrors } from '${shop}';
`;
const rightThrowing = `
throw shopErrors.OUT_OF_STOCK({ data: { left: 2 }, message: 'Two are left.', cause: new Error() });
`;
const wrongThrowing = [
  'shopErrors.SOLD_OUT();',
  'shopErrors.OUT_OF_STOCK();',
  "shopErrors.OUT_OF_STOCK({ data: { left: 'two' } });",
  'shopErrors.SHOP_CLOSED({ data: { left: 2 } });',
  'declareErrors({ NOT_FOUND: { status: 404 } });',
  'declareErrors({ outOfStock: { status: 409 } });',
  "declareErrors({ GONE: { status: '410' } });",
];

const cases = [
  ['a REST client of openapi-typescript', restClient, rightRest, wrongRest],
  ['the procedure that throws', throwing, rightThrowing, wrongThrowing],
] as const;

describe('declared errors', () => {
  let files: Record<string, string>;
  beforeAll(async () => {
    const gateway = await createGateway({
      router: shopRouter,
      createContext: () => ({}),
      document: { title: 'Shop', version: '1.0.0' },
    });
    files = {
      'openapi.ts': astToString(await openapiTypeScript(JSON.stringify(await gateway.document()))),
    };
    for (const [index, [, start, right, wrong]] of cases.entries()) {
      files[`right${index}.ts`] = `${start}${right}`;
      files[`wrong${index}.ts`] = `${start}${wrong.join('\n')}`;
    }
  });

  it.each(everyCompiler)(
    'a REST client narrows declared errors by code, and an undeclared code does not compile there nor where it is thrown: $compiler, exactOptionalPropertyTypes $exactOptionalPropertyTypes',
    async (options) => {
      const printed = await compile({ files, packages: 'repository', ...options });
      const rejected = printed
        .split('\n')
        .filter((line) => line.includes('error TS'))
        .map((line) => {
          const { file = '', row = 0 } = /^(?<file>[^(]+)\((?<row>\d+),/.exec(line)?.groups ?? {};
          return `${file}: ${files[file]?.split('\n')[Number(row) - 1] ?? line}`;
        });
      const expected = cases.flatMap(([, , , wrong], index) =>
        wrong.map((line) => `wrong${index}.ts: ${line}`),
      );
      expect([...new Set(rejected)]).toEqual(expected);
    },
  );
});
