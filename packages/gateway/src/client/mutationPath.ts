import type { AnyTRPCRouter } from '@trpc/server';

/** Union of the paths of a router's mutations, such as `'pets.create'`. */
export type MutationPath<Router extends AnyTRPCRouter> = PathsBelow<Router['_def']['record'], ''>;

type PathsBelow<Members, Prefix extends string> = {
  [Name in keyof Members & string]: Members[Name] extends { readonly _def: { readonly type: infer Type } }
    ? 'mutation' extends Type
      ? `${Prefix}${Name}`
      : never
    : PathsBelow<Members[Name], `${Prefix}${Name}.`>;
}[keyof Members & string];
