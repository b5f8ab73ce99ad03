#include "viewer/model/sha256.h"

#include <array>
#include <new>

#include <fmt/format.h>
#include <openssl/evp.h>

#include <texton/error.h>

namespace texton::verify {
namespace {

// Throws if a function of libcrypto failed.
void check(int result) {
    if (result == 1) return;
    throw Error({.code = ErrorCode::unsupported,
                 .object = "texton::verify",
                 .problem = "libcrypto cannot compute SHA-256",
                 .remedy = "Check the configuration of OpenSSL: a provider with SHA-256 must be loaded."});
}

}  // namespace

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
    if (context_ == nullptr) throw std::bad_alloc();
    check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

void Sha256::add(std::span<const std::byte> bytes) {
    check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
}

std::string Sha256::finish() {
    std::array<unsigned char, 32> hash{};
    check(EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr));
    std::string out;
    for (const unsigned char byte : hash) out += fmt::format("{:02x}", byte);
    return out;
}

std::string sha256(std::span<const std::byte> bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.finish();
}

}  // namespace texton::verify
