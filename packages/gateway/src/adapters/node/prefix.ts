/** @returns what gives the part of a target behind a prefix; `undefined` where the target is not below it */
export function prefixRemover(prefix = ''): (url: string) => string | undefined {
  const start = prefix.replace(/\/+$/, '');
  if (start === '') return (url) => url;
  return (url) => {
    if (!url.startsWith(start)) return undefined;
    const rest = url.slice(start.length);
    if (rest === '' || rest.startsWith('?')) return `/${rest}`;
    return rest.startsWith('/') ? rest : undefined;
  };
}
