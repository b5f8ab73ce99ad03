#pragma once
// SHA-256, which libcrypto computes.
#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace texton::verify {

/// Computes the hash SHA-256 of FIPS 180-4. Not thread-safe.
class Sha256 {
public:
    /// Throws Error{unsupported} if libcrypto does not have the hash.
    Sha256();

    /// Appends bytes to the message.
    void add(std::span<const std::byte> bytes);
    /// Returns the hash as 64 hexadecimal digits. The object must not be used afterwards.
    std::string finish();

private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const noexcept;
    };
    std::unique_ptr<evp_md_ctx_st, Free> context_;
};

/// Returns the hash of the bytes as 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::span<const std::byte> bytes);

}  // namespace texton::verify
