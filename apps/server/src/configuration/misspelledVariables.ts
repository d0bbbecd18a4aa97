import { editDistance } from 'trpc-gateway/options';
import { VariableName } from './configuration.ts';

const lettersOf = (name: string) => name.toUpperCase().replaceAll('_', '');

/** Returns a sentence for each variable whose name is not known and looks like a known one. */
export function misspelledVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known: readonly string[] = VariableName.options;
  return Object.keys(environment).flatMap((name) => {
    if (known.includes(name)) return [];
    const letters = lettersOf(name);
    // Few: `HOME` is not a misspelled `HOST`.
    const maxEdits = letters.length < 8 ? 1 : 2;
    const similar = known.find((each) => editDistance(letters, lettersOf(each)) <= maxEdits);
    return similar === undefined ? [] : [`The variable ${name} is not read. Did you mean ${similar}?`];
  });
}
