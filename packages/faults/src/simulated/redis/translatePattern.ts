import { unsupported } from './luaRuntime.ts';

/**
 * Translates a pattern of Lua that consists of characters, classes, `+`, `*` and captures to a regular expression.
 * @throws for others
 */
export function translatePattern(pattern: string): string {
  const classes: Readonly<Record<string, string>> = {
    '%d': '[0-9]',
    '%w': '[A-Za-z0-9]',
    '%a': '[A-Za-z]',
    '.': '[^]',
  };
  // In Lua, these stand for themselves, or for a position.
  if (/(?:^|[(+*)])[+*]|\(\)/.test(pattern)) return unsupported(`the pattern ${pattern}`);
  const parts = pattern.match(/%.|[^]/g) ?? [];
  const source = parts.map((part) => {
    const known = classes[part] ?? (/^[\w :,(+*)]$/.test(part) ? part : undefined);
    return known ?? unsupported(`${part} in the pattern ${pattern}`);
  });
  return `/${source.join('')}/`;
}
