/**
 * Names that several files of source may define, for `npm run check:names`. A row explains
 * - `names`, where all their definitions are in `folders` (anywhere by default),
 * - or what two files of the same name define, in folders that are `twins`, or in files that are,
 * - or what the file or folder `copies` defines besides one other file.
 *
 * @typedef {{ reason: string, names?: string[], folders?: string[], twins?: string[], copies?: string }} Row
 */

/** @type {Row[]} */
export const sharedNames = [
  {
    twins: ['packages/core/src/store/embedded', 'packages/core/src/store/mongodb'],
    reason: 'One port, two implementations, file by file.',
  },
  {
    twins: ['packages/gateway/src/adapters/node', 'packages/gateway/src/adapters/uws'],
    reason: 'Two adapters, file by file.',
  },
  {
    twins: ['packages/gateway/src/protocols/rest', 'packages/gateway/src/protocols/trpc'],
    reason: 'Two protocols, file by file.',
  },
  {
    names: ['MaybePromise'],
    folders: ['packages/core/src/store', 'packages/gateway/src/http'],
    reason: 'A type of one line that each package exports for its own interface.',
  },
  {
    copies: 'contract/router.ts',
    reason: "The released types, which have the names of the router's own.",
  },
  {
    names: ['definitionReader'],
    folders: ['packages/gateway/src/procedures', 'packages/typegen/src'],
    reason:
      'The type generator reads a router without importing the gateway. Both use the same global symbol.',
  },
  {
    names: ['GroupCommit', 'Job', 'commitCause'],
    folders: ['packages/core/src/store/embedded', 'packages/runtime/src/state'],
    reason: 'Both packages write LMDB files, and neither imports the other.',
  },
  {
    names: ['closeTimeoutMs'],
    folders: ['packages/runtime/src/state'],
    reason: 'Two states, each with its own time.',
  },
  {
    names: ['optionNames'],
    folders: ['packages/gateway/src/policies/schemes'],
    reason: 'Every scheme of authentication checks its options against a list.',
  },
];
