import type { AnyTRPCProcedure, AnyTRPCRouter } from '@trpc/server';
import type { GatewayOptions } from '../assembly/options.ts';
import { t, testGateway } from './testGateway.ts';

export type Options = Partial<GatewayOptions<AnyTRPCRouter, unknown>>;

interface Documented {
  readonly parameters?: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly schema: Readonly<Record<string, unknown>>;
  }[];
  readonly security?: readonly object[];
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string;
        readonly headers: Readonly<Record<string, { readonly required?: boolean }>>;
      }
    >
  >;
}

/** Returns the operation of a procedure as the document has it. */
export async function documentedOperation(
  find: AnyTRPCProcedure,
  options: Options = {},
): Promise<Documented> {
  const gateway = await testGateway<AnyTRPCRouter>(t.router({ find }), options);
  const { paths } = await gateway.document();
  const [operation] = Object.values(paths as object).flatMap((item) => Object.values(item as object));
  return operation as Documented;
}
