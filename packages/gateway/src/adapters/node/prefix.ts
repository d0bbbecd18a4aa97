/**
 * @returns what gives the part of a target behind a prefix; `undefined` where the target is not below it
 * @throws {RangeError} for a prefix that no target begins with
 */
export function prefixRemover(prefix = ''): (url: string) => string | undefined {
  const start = prefix.replace(/\/+$/, '');
  if (start === '') return (url) => url;
  if (!start.startsWith('/')) {
    throw new RangeError(`The option prefix is "${prefix}"; it must begin with a slash, such as "/api".`);
  }
  return (url) => {
    if (!url.startsWith(start)) return undefined;
    const rest = url.slice(start.length);
    if (rest === '' || rest.startsWith('?')) return `/${rest}`;
    return rest.startsWith('/') ? rest : undefined;
  };
}
