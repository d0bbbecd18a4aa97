import type { z } from 'zod';
import type { RestMeta } from '../procedures/meta.ts';
import { definitionOf } from '../schemas/zodSchema.ts';
import { multipartType } from './operationBody.ts';
import { readZod } from '../schemas/readSchema.ts';
import { propertiesOf } from '../schemas/properties.ts';
import { acceptsSample, acceptsUndefined, details, parserOf, type Schema } from '../schemas/schema.ts';

/**
 * Returns the form's schema: the object behind a `z.preprocess`, such as `zfd.formData` of zod-form-data, or a pipe
 * from `z.instanceof(FormData)`; else an object without properties. `undefined` if the operation accepts no form.
 * @param inputs `undefined` for a function, which is expected to accept a `FormData`
 */
export function formSchema(
  inputs: readonly (Schema | undefined)[],
  { contentTypes }: RestMeta,
): Schema | undefined {
  if (inputs.length === 0 || !contentTypes?.every((type) => type === multipartType)) return undefined;
  const forms = inputs.map((input) => (input ? formOf(parserOf(input)) : {}));
  if (!forms.every((form) => form !== undefined)) return undefined;
  const allOf = forms.filter((form) => propertiesOf(form));
  const [only = { type: 'object' }, ...others] = allOf;
  const form: Schema = others.length === 0 ? only : { allOf };
  const isOptional = inputs.every((input) => input && acceptsUndefined(input));
  return { ...form, [details]: { ...form[details], isForm: true, isOptional } };
}

/** Returns the schema of what a parser makes of a `FormData`; `undefined` if it does not accept one. */
function formOf(parser: z.core.$ZodType | undefined): Schema | undefined {
  if (parser === undefined) return undefined;
  const def = definitionOf(parser);
  if ('innerType' in def) return formOf(def.innerType);
  if (def.type === 'pipe') {
    const form = formOf(def.in);
    return form && !propertiesOf(form) ? readZod(def.out, 'input') : form;
  }
  if (def.type === 'transform') return readsForm(parser) ? {} : undefined;
  if (def.type === 'custom') return acceptsSample(def, new FormData()) ? {} : undefined;
  return def.type === 'any' || def.type === 'unknown' ? {} : undefined;
}

/** Whether the function of a `z.preprocess` reads the members of a `FormData`, rather than those of an object. */
function readsForm(preprocess: z.core.$ZodType): boolean {
  let isRead = false;
  const form = new Proxy(new FormData(), {
    get(_form, name) {
      // Code may read these of any object.
      if (name === 'constructor' || name === Symbol.toStringTag) return;
      isRead ||= Object.hasOwn(FormData.prototype, name);
    },
  });
  // Validation throws where it uses a member that the form does not have.
  (async () => preprocess['~standard'].validate(form))().catch(() => {});
  return isRead;
}
