import type { AppRouter } from '@petstore/types';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createTRPCClient, httpBatchLink, type TRPCClientError } from '@trpc/client';
import { type ReactNode, useMemo, useState } from 'react';

/** Lists the animals of the pet store at `url`, with a form to add one. */
export function Animals({ url }: { readonly url: string }): ReactNode {
  const [key, setKey] = useState('');
  const client = useMemo(
    () =>
      createTRPCClient<AppRouter>({
        links: [httpBatchLink({ url: `${url}/trpc`, headers: { authorization: `Bearer ${key}` } })],
      }),
    [url, key],
  );
  const queryClient = useQueryClient();
  const queryKey = ['listPets', key];
  const animals = useQuery({ queryKey, queryFn: () => client.listPets.query(), enabled: key !== '' });
  const add = useMutation({
    mutationFn: (name: string) => client.createPet.mutate({ name, categoryId: 1 }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey }),
  });

  return (
    <>
      <h1>Animals</h1>
      <form action={(form) => setKey(textOf(form, 'key'))}>
        <label>
          API key <input name="key" type="password" defaultValue={key} />
        </label>
        <button>Use</button>
      </form>
      <form action={(form) => add.mutate(textOf(form, 'name'))}>
        <label>
          Name <input name="name" />
        </label>
        <button disabled={!animals.isSuccess}>Add</button>
      </form>
      <ul>
        {animals.data?.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
      <p role="status">{formatError(animals.error ?? add.error)}</p>
    </>
  );
}

/** Returns a text field of a form. */
const textOf = (form: FormData, name: string) => form.get(name) as string;

function formatError(error: Error | null): string {
  if (error === null) return '';
  const { data } = error as TRPCClientError<AppRouter>;
  // Without `data` there was no response: the server cannot be reached, or CORS_ORIGINS lacks this page's origin.
  return data?.code === 'UNAUTHORIZED'
    ? 'This key is not valid.'
    : data
      ? error.message
      : 'There is no response.';
}
