/** Finds top-level names that are defined in more than one file. */
import { parseSync } from 'oxc-parser';

/**
 * @typedef {object} Definition
 * @property {string} name
 * @property {string} kind Such as `function`.
 * @property {string} path
 * @property {number} line
 */

/**
 * What a file defines at its top level, exported or not. What it re-exports is not its own.
 * @returns {Definition[]}
 */
export function definitions(path, source) {
  return parseSync(path, source).program.body.flatMap((statement) => {
    const node = statement.declaration ?? statement;
    const names =
      node.type === 'VariableDeclaration'
        ? node.declarations.flatMap(({ id }) => namesOf(id))
        : namesOf(node.id);
    return names.map((name) => ({
      name,
      kind: kinds[node.type] ?? node.kind,
      path,
      line: source.slice(0, node.start).split('\n').length,
    }));
  });
}

const kinds = {
  FunctionDeclaration: 'function',
  TSDeclareFunction: 'function',
  ClassDeclaration: 'class',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
  TSEnumDeclaration: 'enum',
  TSModuleDeclaration: 'namespace',
};

/** The names that a declaration binds: a destructuring pattern has several. */
function namesOf(id) {
  if (id?.type === 'Identifier') return [id.name];
  if (id?.type === 'ObjectPattern')
    return id.properties.flatMap(({ value, argument }) => namesOf(value ?? argument));
  if (id?.type === 'ArrayPattern') return id.elements.flatMap(namesOf);
  if (id?.type === 'AssignmentPattern') return namesOf(id.left);
  return id?.type === 'RestElement' ? namesOf(id.argument) : [];
}

/** @param {Definition[]} all @param {import('./sharedNames.mjs').Row[]} rows */
export function unexplainedNames(all, rows) {
  const explanations = rows.flatMap((row) => row.names?.map((name) => ({ ...row, names: [name] })) ?? [row]);
  const used = new Set();
  const unexplained = [...Map.groupBy(all, ({ name }) => name)]
    // Overloads, and a type and a value of one name, are one definition.
    .map(([name, each]) => ({
      name,
      places: [...new Map(each.map((place) => [place.path, place])).values()],
    }))
    .filter(({ places }) => places.length > 1)
    .filter((shared) => {
      const explaining = explanations.filter((row) => explains(row, shared));
      for (const row of explaining) used.add(row);
      return explaining.length === 0;
    });
  return { unexplained, unused: explanations.filter((row) => !used.has(row)) };
}

/** One row has to explain every place of the name. */
function explains({ names, folders, twins, copies }, { name, places }) {
  const isIn = (folder, { path }) => path === folder || path.startsWith(`${folder}/`);
  if (copies) return places.filter((place) => !isIn(copies, place)).length === 1;
  if (names)
    return (
      names.includes(name) && places.every((place) => folders?.some((folder) => isIn(folder, place)) ?? true)
    );
  const files = places.map((place) => place.path.slice(twins.find((twin) => isIn(twin, place))?.length));
  return files[0] !== places[0].path && files.every((file) => file === files[0]);
}
