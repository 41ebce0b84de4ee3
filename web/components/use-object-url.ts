import { useEffect, useState } from 'react';
import { revokeLater } from './object-urls.ts';

/** Object URL of a blob for images and media elements; revoked after the component unmounts. */
export function useObjectUrl(bytes: Blob | undefined): string | undefined {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    if (bytes === undefined) return setAddress(undefined);
    const made = URL.createObjectURL(bytes);
    setAddress(made);
    return () => revokeLater(made);
  }, [bytes]);
  return address;
}
