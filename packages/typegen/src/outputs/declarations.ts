import {
  isComputedPropertyName,
  isInterfaceDeclaration,
  isObjectLiteralExpression,
  isPropertyAssignment,
  isPropertySignatureDeclaration,
  isShorthandPropertyAssignment,
  isTypeLiteralNode,
  NodeFlags,
} from 'typescript/unstable/ast';
import type { NodeHandle } from 'typescript/unstable/sync';

export const isOfPackage = ({ path }: NodeHandle): boolean =>
  path.includes('/node_modules/') || path.startsWith('bundled:');

/** Whether a declaration has a comment. Of a package, whose files may have megabytes, only the compiler knows. */
export const mayBeDocumented = (declaration: NodeHandle): boolean =>
  isOfPackage(declaration) || ((declaration.resolve()?.flags ?? 0) & NodeFlags.HasJSDoc) !== 0;

/** Whether a declaration outside of packages names each property of its type, and has no signatures and bases. */
export function listsOnlyProperties(declaration: NodeHandle): boolean {
  const node = isOfPackage(declaration) ? undefined : declaration.resolve();
  if (node === undefined) return false;
  if (isTypeLiteralNode(node)) return node.members.every(isPropertySignatureDeclaration);
  if (isInterfaceDeclaration(node))
    return node.heritageClauses === undefined && node.members.every(isPropertySignatureDeclaration);
  if (!isObjectLiteralExpression(node)) return false;
  return node.properties.every(
    (property) =>
      isShorthandPropertyAssignment(property) ||
      (isPropertyAssignment(property) && !isComputedPropertyName(property.name)),
  );
}

const runtimes = [
  '@cloudflare/workers-types',
  '@types/bun',
  '@types/node',
  '@types/web',
  'bun-types',
  'undici-types',
];

/** Whether TypeScript or the types of a runtime declare it: packages have classes of their own that are called `File` or `Error`. */
export const isOfRuntime = ({ path }: NodeHandle): boolean =>
  /^bundled:|\/lib\.[\w.]+\.d\.ts$/.test(path) ||
  runtimes.some((name) => path.includes(`/node_modules/${name}/`));
