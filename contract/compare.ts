// Compiles if no change breaks released tRPC clients (`.ci/contract`). An error names the procedure.
import type * as current from '../packages/types/src/generated/router.ts';
import type * as released from './router.ts';

interface AnyRouter {
  readonly _def: { readonly record: Readonly<Record<string, { readonly _def: { readonly type: string } }>> };
}

/** Whether each procedure is a query, a mutation or a subscription. */
type Kinds<Router extends AnyRouter> = {
  [Name in keyof Router['_def']['record']]: Router['_def']['record'][Name]['_def']['type'];
};
declare const before: { readonly inputs: released.RouterInputs; readonly kinds: Kinds<current.AppRouter> };
declare const now: current.RouterOutputs;

// No procedure is gone, and each is what it was.
before.kinds satisfies Kinds<released.AppRouter>;
// Inputs that were valid are valid.
before.inputs satisfies Pick<current.RouterInputs, keyof released.RouterInputs>;
// Outputs have no values that were not possible before.
now satisfies released.RouterOutputs;
